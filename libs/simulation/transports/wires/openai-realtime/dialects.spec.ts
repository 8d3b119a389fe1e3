import { Random } from '../../../../audio/index.js';
import { shareOf } from '../../../../statistics/testing/sample.js';
import { DialectMaker, readByWire } from './testing/dialects.js';

const DIALECTS = shareOf(2_000);

it(`reads words, audio and calls of ${DIALECTS} random dialects of the protocol as they were meant`, async () => {
  const maker = new DialectMaker(new Random(45));
  for (let n = 0; n < DIALECTS; n++) {
    const dialect = maker.make();
    const { words, audioMs, calls, errors } = await readByWire(dialect);
    const meant = dialect.calls.map(([, name, json]) => [name, JSON.parse(json) as unknown]);
    const read = calls.map(([name, json]) => [name, JSON.parse(json ?? '') as unknown]);
    const shown = dialect.messages.map(String).filter((text) => !/audio\.delta/.test(text));
    expect({ n, shown, words, read: sorted(read), audioMs: Math.round(audioMs), errors }).toEqual({
      ...{ n, shown, words: dialect.words, read: sorted(meant), audioMs: dialect.audioMs, errors: [] },
    });
  }
}, 600_000);

// A call that is only in the output of the response is read after those whose items were done.
const sorted = (calls: unknown[]): string[] => calls.map((call) => JSON.stringify(call)).sort();
