import { sample, sentinels } from '../../../../libs/statistics/testing/sample.js';
import { isSentinel } from '../testing/sentinels.js';
import {
  judgedTelephoneWords,
  telephoneExpectationOf,
  type TelephoneWordCell,
  telephoneWordCells,
  TelephoneWords,
} from './testing/telephone-words.js';
import { VoiceCalls } from './testing/voice-call.js';
import { WORD_FAULT_NAMES } from './word-faults.js';

const calls = new VoiceCalls();
const words = new TelephoneWords(calls);
afterAll(async () => {
  await words.close();
  await calls.close();
});

/** Those that are not judged as they must be. */
async function deviations(cells: readonly TelephoneWordCell[]): Promise<string[]> {
  const found: string[] = [];
  for (const cell of cells) {
    const judged = judgedTelephoneWords(cell, await words.call(cell, await words.recogniser(cell.key)));
    if (!judged.isRight) found.push(`${cell.key}: ${judged.found}`);
  }
  return found;
}

describe('the evaluations of the text agent over Twilio, where a recogniser hears the agent', () => {
  const cells = telephoneWordCells(1);

  it('pass the healthy agent', async () => {
    expect(await deviations(sample(cells.filter(({ fault }) => fault === undefined)))).toEqual([]);
  }, 240_000);

  const found = WORD_FAULT_NAMES.filter((fault) =>
    cells.some((cell) => cell.fault === fault && telephoneExpectationOf(cell).outcome === 'failed'),
  );
  it.each(sentinels(found, isSentinel))(
    'find %s where it must be found',
    async (fault) => {
      const ofFault = cells.filter((cell) => cell.fault === fault && telephoneExpectationOf(cell).outcome === 'failed');
      expect(await deviations(sample(ofFault, WORD_FAULT_NAMES.indexOf(fault)))).toEqual([]);
    },
    240_000,
  );
});
