import { partOf } from '../../../libs/statistics/testing/sample.js';
import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import { WORD_FAULT_NAMES } from '../agent/voice/word-faults.js';
import { RealtimeCells } from '../agent/voice/testing/realtime-cells.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';
import { VAPI_FAULT_NAMES } from './vapi-faults.js';

const calls = new VoiceCalls();
const cells = new RealtimeCells(calls);
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

describe('the evaluations of the text agent over Vapi', () => {
  it.each([undefined, ...partOf(WORD_FAULT_NAMES, 1, 3)])(
    'have the same results as over text with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'vapi', about: 'words', fault })).toEqual([]);
    },
    120_000,
  );
});

describe('the evaluations for the telephone over Vapi', () => {
  it.each([undefined, ...partOf(SHARED_FAULT_NAMES, 1, 2), ...VAPI_FAULT_NAMES])(
    'have exactly the expected results and findings with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'vapi', about: 'voice', fault })).toEqual([]);
    },
    120_000,
  );
});
