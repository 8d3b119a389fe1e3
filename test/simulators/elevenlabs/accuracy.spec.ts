import { partOf } from '../../../libs/statistics/testing/sample.js';
import { RealtimeCells } from '../agent/voice/testing/realtime-cells.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';
import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import { WORD_FAULT_NAMES } from '../agent/voice/word-faults.js';
import { ELEVENLABS_FAULT_NAMES } from './elevenlabs-faults.js';

const calls = new VoiceCalls();
const cells = new RealtimeCells(calls);
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

describe('the evaluations of the text agent over ElevenLabs', () => {
  it.each([undefined, ...partOf(WORD_FAULT_NAMES, 0, 3)])(
    'have the same results as over text with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'elevenlabs', about: 'words', fault })).toEqual([]);
    },
    120_000,
  );
});

describe('the evaluations for the telephone over ElevenLabs', () => {
  it.each([undefined, ...partOf(SHARED_FAULT_NAMES, 0, 2), ...ELEVENLABS_FAULT_NAMES])(
    'have exactly the expected results and findings with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'elevenlabs', about: 'voice', fault })).toEqual([]);
    },
    120_000,
  );
});
