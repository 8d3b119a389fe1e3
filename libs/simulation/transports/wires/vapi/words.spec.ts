import { readMessage } from './messages.js';
import { AgentWords } from './words.js';

const LIMIT_MS = 1_000;

/** The texts that were said, and how long it took. */
function timed(use: (words: AgentWords) => void) {
  const said: string[] = [];
  const words = new AgentWords({ said: (_now, text) => said.push(text), playedMs: () => 0 }, 16_000);
  const begun = performance.now();
  use(words);
  return { said: said.filter((text) => text !== ''), ms: performance.now() - begun };
}

describe('words of an agent of Vapi whose answer a long pause divides', () => {
  const ANSWER = 'Your table is booked. Is there anything else?';
  const RATE = 16_000;

  /** @param between what happens in the pause */
  function heard(between: (words: AgentWords, now: number) => void) {
    const said: [item: number, text: string][] = [];
    const report = (_now: number, text: string, { item }: { item: number }) => text !== '' && said.push([item, text]);
    const words = new AgentWords({ said: report, playedMs: () => 3_000 }, RATE);
    words.model(0, 't1', ANSWER);
    words.tick(300);
    const sound = new Int16Array(3 * RATE).fill(5_000);
    words.audio(300, sound);
    between(words, 4_000);
    expect(words.audio(7_000, sound)).toBe(2);
    words.transcript(10_100, ANSWER);
    return said;
  }

  it('are not said twice when its transcript follows', () => {
    expect(heard(() => undefined)).toEqual([[1, ANSWER]]);
  });

  it('are said twice if the agent repeats itself', () => {
    expect(heard((words, now) => words.transcript(now, ANSWER))).toEqual([
      [1, ANSWER],
      [2, ANSWER],
    ]);
  });
});

// One thread carries all calls: no message of one platform may stop it.
describe('words of an agent of Vapi, in linear time', () => {
  it('finds the last word after a very long one', () => {
    const long = 'x'.repeat(100_000);
    const { said, ms } = timed((words) => {
      words.model(0, 't1', `${long} and`);
      words.tick(100);
    });
    expect(said).toEqual([long]);
    expect(ms).toBeLessThan(LIMIT_MS);
  });

  it('keeps a word together that arrives in many parts', () => {
    const { said, ms } = timed((words) => {
      for (let n = 0; n < 10_000; n++) {
        words.model(n * 20, 't1', 'x');
        words.tick(n * 20);
      }
      words.model(200_000, 't1', ' y');
      words.tick(200_000);
      words.tick(200_200);
    });
    expect(said).toEqual(['x'.repeat(10_000), 'y']);
    expect(ms).toBeLessThan(LIMIT_MS);
  });

  it('compares transcripts with the end of a turn only', () => {
    const { said, ms } = timed((words) => {
      words.model(0, 't1', 'one more word '.repeat(20_000));
      words.tick(1);
      for (let n = 0; n < 1_000; n++) {
        words.model(n, 't1', 'and ');
        words.transcript(n, 'something else');
      }
    });
    expect(said[0]).toHaveLength(279_999);
    expect(ms).toBeLessThan(LIMIT_MS);
  });

  it.each([
    [20_000, 'spoken'],
    [20_001, 'invalid'],
  ])('with the times of %d words are %s', (count, type) => {
    const timing = {
      ...{ type: 'word-alignment', words: Array<string>(count).fill('a') },
      wordsStartTimesMs: Array<number>(count).fill(0),
      wordsEndTimesMs: Array<number>(count).fill(1),
    };
    const message = { type: 'assistant.speechStarted', turn: 0, text: 'a', timing };
    expect(readMessage(JSON.stringify(message)).type).toBe(type);
  });
});
