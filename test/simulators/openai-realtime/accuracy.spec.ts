import { RealtimeCells } from '../agent/voice/testing/realtime-cells.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';
import { WORD_FAULT_NAMES } from '../agent/voice/word-faults.js';
import { REALTIME_FAULT_NAMES } from './realtime-faults.js';

const calls = new VoiceCalls();
const cells = new RealtimeCells(calls);
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

describe('the evaluations of the text agent over OpenAI Realtime', () => {
  it.each([undefined, ...WORD_FAULT_NAMES])(
    'have the same results as over text with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'openai-realtime', about: 'words', fault })).toEqual([]);
    },
    120_000,
  );
});

describe('the evaluations for the telephone over OpenAI Realtime', () => {
  it.each(REALTIME_FAULT_NAMES)('find %s in exactly the expected evaluations, with its finding', async (fault) => {
    expect(await cells.deviations({ platform: 'openai-realtime', about: 'voice', fault })).toEqual([]);
  });
});
