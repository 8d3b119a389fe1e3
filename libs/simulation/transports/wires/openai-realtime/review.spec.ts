import { factsOf, line } from '../../../voice/testing/facts.js';
import { Moments, reviewCall } from './review.js';

describe('reviewCall', () => {
  const atMs = 600_000;
  const end = { by: 'caller', code: 'script_over', reason: '', atMs } as const;

  it('knows whether a response followed the end of the caller’s speech within 5 s', () => {
    const codesOf = (given: Partial<Pick<Moments, 'speechStarted' | 'speechStopped' | 'responses'>>) => {
      const moments = new Moments();
      for (const kind of ['speechStarted', 'speechStopped', 'responses'] as const) {
        for (const each of given[kind] ?? []) moments.note(kind, each);
      }
      return reviewCall(factsOf({ caller: [line(0, 10_000)], end }), moments).map(({ code }) => code);
    };
    expect(codesOf({ speechStarted: [1], speechStopped: [10_000] })).toEqual(['no_response']);
    expect(codesOf({ speechStarted: [1], speechStopped: [10_000], responses: [10_000] })).toEqual([]);
    expect(codesOf({ speechStarted: [1], speechStopped: [10_000], responses: [9_999, 14_999] })).toEqual([]);
    expect(codesOf({ speechStarted: [1], speechStopped: [10_000], responses: [15_000] })).toEqual(['no_response']);
    // Speech that goes on wants no response.
    expect(codesOf({ speechStarted: [1, 10_001], speechStopped: [10_000] })).toEqual([]);
    expect(codesOf({ speechStarted: [1, 10_000], speechStopped: [10_000] })).toEqual(['no_response']);
    expect(codesOf({})).toEqual(['caller_not_detected']);
    expect(codesOf({ speechStarted: [12_000] })).toEqual([]);
  });

  it('does not compare all moments with each other', () => {
    const looksFor = (count: number) => {
      let looks = 0;
      const moments = new Moments();
      for (let n = 0; n < count; n++) {
        moments.note('speechStarted', 10 + n / 1_000);
        moments.note('responses', 50 + n / 1_000);
        moments.note('speechStopped', 100_000 + n / 1_000);
      }
      const counted = (list: number[]): number[] =>
        new Proxy(list, {
          get: (of, key) => {
            looks++;
            return Reflect.get(of, key) as unknown;
          },
        });
      Object.assign(moments, {
        speechStarted: counted(moments.speechStarted),
        responses: counted(moments.responses),
      });
      expect(reviewCall(factsOf({ caller: [line(0, 10_000)], end }), moments)).toHaveLength(count);
      return looks;
    };
    expect(looksFor(4_000) / looksFor(1_000)).toBeLessThan(6);
  });
});
