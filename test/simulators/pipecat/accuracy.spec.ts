import { sentinels } from '../../../libs/statistics/testing/sample.js';
import { isSentinel } from '../agent/testing/sentinels.js';
import { RealtimeCells } from '../agent/voice/testing/realtime-cells.js';
import { VoiceCalls } from '../agent/voice/testing/voice-call.js';
import { WORD_FAULT_NAMES } from '../agent/voice/word-faults.js';
import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import { PIPECAT_FAULT_NAMES } from './pipecat-faults.js';

const calls = new VoiceCalls();
const cells = new RealtimeCells(calls);
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

describe('the evaluations of the text agent over Pipecat', () => {
  it.each([undefined, ...sentinels(WORD_FAULT_NAMES, isSentinel)])(
    'have the same results as over text with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'pipecat', about: 'words', fault })).toEqual([]);
    },
    120_000,
  );
});

describe('the evaluations for the telephone over Pipecat', () => {
  it.each([undefined, ...sentinels([...SHARED_FAULT_NAMES, ...PIPECAT_FAULT_NAMES], isSentinel)])(
    'have exactly the expected results and findings with the fault %s',
    async (fault) => {
      expect(await cells.deviations({ platform: 'pipecat', about: 'voice', fault })).toEqual([]);
    },
    120_000,
  );
});
