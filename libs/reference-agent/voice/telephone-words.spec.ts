import { EVALUATION_KEYS } from '../evaluations.js';
import { WORD_FAULT_NAMES } from './realtime/realtime-faults.js';
import { TelephoneWords, telephoneExpectationOf } from './testing/telephone-words.js';
import { VoiceCalls } from './testing/voice-call.js';
import { isExpected } from './expected.js';

const calls = new VoiceCalls();
const words = new TelephoneWords(calls);
afterAll(async () => {
  await words.close();
  await calls.close();
});

describe('the evaluations of the text agent over Twilio, heard by a recogniser', () => {
  it.each([undefined, ...WORD_FAULT_NAMES])('have the same results as over text with the fault %s', async (fault) => {
    const wrong: string[] = [];
    for (const key of EVALUATION_KEYS) {
      const result = await words.call({ fault, key, seed: 1 }, await words.recogniser(key));
      const failed = result.checks.filter(({ met }) => met === false).map(({ name }) => name);
      const found = { outcome: result.outcome, endCode: result.end.code, failed };
      if (!isExpected(telephoneExpectationOf({ fault, key }), found)) wrong.push(`${key}: ${result.reason}`);
    }
    expect(wrong).toEqual([]);
  });
});
