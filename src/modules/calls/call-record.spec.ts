import type { CallResult } from '../../../libs/simulation/index.js';
import { toRecord } from './call-record.js';

const resultWith = (voice: object): CallResult => ({ voice }) as unknown as CallResult;

describe('the words of a call as the API returns them', () => {
  it('say where they come from and how many are left out', () => {
    const words = [{ speaker: 'agent', text: 'booked', startMs: 900, endMs: 1_200, source: 'wire', uncertain: true }];
    const wordsFrom = { source: 'wire', model: null, times: 'word' };
    const stored = resultWith({ words, wordsFrom, wordsOmitted: 7 });
    expect(toRecord(stored, null)).toMatchObject({ words, wordsFrom, wordsOmitted: 7 });
  });

  it('are none without a voice call, and have no source in results of earlier versions', () => {
    const none = { words: [], wordsFrom: null, wordsOmitted: 0 };
    expect(toRecord(null, null)).toMatchObject(none);
    expect(toRecord(resultWith({ words: [] }), null)).toMatchObject(none);
  });
});
