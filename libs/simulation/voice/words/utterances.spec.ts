import type { Arrival, SaidFact, VoiceFacts } from '../facts/facts.js';
import { agentSound, factsOf, line } from '../testing/facts.js';
import { voiceEntries } from '../conversation/voice-timeline.js';
import { wordFindings } from '../call/observed-findings.js';
import { voiceMeasures } from '../measures/index.js';
import { wordsOfItems } from './item-words.js';
import { timedWords, utterancesOf } from './utterances.js';
import { wordsOfCall } from './words-from.js';

const unchanged = (text: string) => text;

/** An item that arrived at once and is played from a moment on. */
const burst = (item: number, atMs: number, ms: number, more: Partial<Arrival> = {}): Arrival => ({
  arrivedMs: atMs,
  playedFromMs: atMs,
  playedToMs: atMs + ms,
  item,
  ...more,
});
/** An item that was dropped when some of it had been played. */
const dropped = (item: number, atMs: number, playedMs: number, sentMs: number): Arrival =>
  burst(item, atMs, playedMs, { isCut: true, sentMs });
/** An item that arrives as fast as it is played. */
const paced = (item: number, atMs: number, ms: number): Arrival[] =>
  Array.from({ length: ms / 20 }, (_, n) => burst(item, atMs + n * 20, 20));
const said = (item: number, atMs: number, text: string, more: Partial<SaidFact> = {}): SaidFact => ({
  ...{ item, atMs, text, final: true },
  ...more,
});
const clear = (atMs: number) => ({ atMs, droppedMs: 1 });

/** The words of all items with how they were heard: `(uncertain)`, `-unheard`. */
const hearings = (given: Partial<VoiceFacts>) =>
  timedWords(factsOf(given), unchanged)
    .map(({ text, unheard, uncertain }) => (unheard ? `-${text}` : uncertain ? `(${text})` : text))
    .join(' ');
const texts = (given: Partial<VoiceFacts>) => utterancesOf(factsOf(given)).map(({ text }) => text);

describe('the words of an item that was played as a whole', () => {
  const given = {
    arrivals: [burst(1, 1_000, 1_000)],
    said: [said(1, 1_000, 'abcd efgh')],
    agent: [agentSound(1_000, 2_000)],
  };

  it('are spread over its characters, from its first to its last sample', () => {
    expect(timedWords(factsOf(given), unchanged)).toEqual([
      { speaker: 'agent', text: 'abcd', startMs: 1_000, endMs: expect.closeTo(1_444.4, 1), source: 'wire' },
      { speaker: 'agent', text: 'efgh', startMs: expect.closeTo(1_555.6, 1), endMs: 2_000, source: 'wire' },
    ]);
    expect(wordsOfCall(factsOf(given), unchanged).wordsFrom).toEqual({
      source: 'wire',
      model: null,
      times: 'estimated',
    });
  });

  it("have the platform's own times where it says so", () => {
    const words = [
      { text: 'abcd', startMs: 100, endMs: 200 },
      { text: 'efgh', startMs: 700, endMs: 900 },
    ];
    const own = { ...given, said: [said(1, 1_000, 'abcd efgh', { words })] };
    expect(timedWords(factsOf(own), unchanged)).toMatchObject([
      { startMs: 1_100, endMs: 1_200 },
      { startMs: 1_700, endMs: 1_900 },
    ]);
    expect(wordsOfCall(factsOf(own), unchanged).wordsFrom?.times).toBe('word');
  });

  it('are not known if the platform reported more of them than are kept of an item', () => {
    const known = (words: number) =>
      wordsOfItems(factsOf({ arrivals: [burst(1, 0, 3_600_000)], said: [said(1, 0, 'many '.repeat(words))] }))[0]!
        .words;
    expect(known(4_000)).toHaveLength(4_000);
    expect(known(4_001)).toBeUndefined();
  });

  it.each([Number.NaN, -1, Infinity])('ignore times that are none: %s', (startMs) => {
    const words = [{ text: 'abcd', startMs, endMs: 200 }];
    expect(wordsOfCall(factsOf({ ...given, said: [said(1, 1_000, 'abcd', { words })] }), unchanged)).toMatchObject({
      words: [{ text: 'abcd', startMs: 1_000, endMs: 2_000 }],
      wordsFrom: { times: 'estimated' },
    });
  });

  it('are those of its last report, not of the parts that it repeats', () => {
    const parts = [said(1, 1_000, 'ab', { final: false }), said(1, 1_000, 'cd', { final: false })];
    expect(texts({ ...given, said: [...parts, said(1, 1_100, 'abcd efgh')] })).toEqual(['abcd efgh']);
  });

  it('are unknown if the platform reported none, and never an empty text', () => {
    for (const reports of [[], [said(1, 1_000, '')], [said(1, 1_000, ' \n ')], [said(2, 1_000, 'abcd')]]) {
      expect(texts({ ...given, said: reports })).toEqual([null]);
      expect(voiceEntries(factsOf({ ...given, said: reports }))).toMatchObject([{ text: '', words: 'unknown' }]);
    }
  });

  it('are the words of the sounds in which they were heard, in one sentence', () => {
    const facts = factsOf({
      arrivals: [burst(1, 1_000, 3_000)],
      said: [said(1, 1_000, 'Options:\n- one and two or three')],
      agent: [agentSound(1_000, 2_300), agentSound(2_800, 4_000)],
    });
    const entries = voiceEntries(facts);
    expect(entries).toMatchObject([
      { text: 'Options:\n- one', words: 'known' },
      { text: ' and two or three', words: 'known', continues: true },
    ]);
    expect(utterancesOf(facts)).toMatchObject([
      { turn: 1, item: 1, text: 'Options:\n- one' },
      { turn: 1, item: 1, text: 'and two or three' },
    ]);
  });
});

describe('the words of an item that was dropped', () => {
  const agent = [agentSound(1_000, 1_500)];
  const clears = [clear(1_500)];

  it('were heard if their middle was played, when the platform had completed it', () => {
    // 10 characters of 100 ms: "cd" has its middle at 400 ms, "efgh" at 800 ms.
    const given = { arrivals: [dropped(1, 1_000, 500, 1_000)], said: [said(1, 1_000, 'ab cd efgh')], agent, clears };
    expect(hearings(given)).toBe('ab cd -efgh');
    expect(voiceEntries(factsOf(given))).toMatchObject([{ text: 'ab cd', words: 'known', interrupted: true }]);
  });

  it('were heard by the places that the platform gives, even if it was not complete', () => {
    const words = [
      { text: 'ab', startMs: 0, endMs: 700 },
      { text: 'cd', startMs: 700, endMs: 800 },
    ];
    const report = said(1, 1_100, 'ab cd', { final: false, words });
    expect(hearings({ arrivals: [dropped(1, 1_000, 500, 1_000)], said: [report], agent, clears })).toBe('ab -cd');
  });

  it('are those of the share that was played, the last one uncertain, when it was not complete', () => {
    // 20 characters for 1,000 ms so far: 10 of them were heard, the last in "klm".
    const report = said(1, 1_100, 'ab cde fg klm nop qr', { final: false });
    const given = { arrivals: [dropped(1, 1_000, 500, 1_000)], said: [report], agent, clears };
    expect(hearings(given)).toBe('ab cde (fg) -klm -nop -qr');
    const after = said(1, 2_000, ' stu vwx', { final: false });
    expect(hearings({ ...given, said: [report, after] })).toBe('ab cde (fg) -klm -nop -qr');
    expect(voiceEntries(factsOf(given))).toMatchObject([
      { text: 'ab cde fg', words: 'known', uncertain: [[7, 9]], interrupted: true },
    ]);
  });

  it('are not complete if the whole text came before its audio', () => {
    const arrivals = [
      burst(1, 1_000, 500),
      burst(1, 1_200, 0, { isCut: true, sentMs: 500, playedFromMs: 1_500, playedToMs: 1_500 }),
    ];
    expect(hearings({ arrivals, said: [said(1, 1_000, 'ab cde fg klm nop qr')], agent, clears })).toBe(
      'ab cde (fg) -klm -nop -qr',
    );
  });

  it('are uncertain from what a voice says in the time on, where the audio is sent as fast as it is heard', () => {
    // 500 ms are 7 characters.
    const arrivals = [...paced(1, 1_000, 480), burst(1, 1_480, 10, { isCut: true, sentMs: 20 })];
    const report = said(1, 1_000, 'ab cde fg klm nop qr');
    expect(hearings({ arrivals, said: [report], agent, clears })).toBe('ab (cde) (fg) (klm) (nop) -qr');
  });

  // speaches-ai/speaches: process_text_stream runs ahead of process_tts_stream; openai/openai-realtime-api-beta#25,
  // Azure-Samples/aoai-realtime-audio-sdk#54, pipecat-ai/pipecat#5426 and livekit/agents#2201: the whole text beside audio that was cut
  it.each([{ final: true }, { final: false }])(
    'were not heard beyond what can be said in the audio that was played: %j',
    (report) => {
      const text =
        'You can have a table for six people on Friday at seven, and for it twenty euros are needed in cash, sir.';
      const late = { isCut: true as const, sentMs: 20, playedFromMs: 3_700, playedToMs: 3_700, arrivedMs: 3_700 };
      const given = {
        arrivals: [
          ...paced(1, 1_000, 1_400),
          burst(1, 2_400, 0, { isCut: true, sentMs: 20 }),
          burst(1, 3_700, 0, late),
        ],
        said: [said(1, 1_000, text, report)],
        agent: [agentSound(1_000, 2_400)],
        clears: [clear(2_400)],
      };
      const words = hearings(given);
      expect(words).toMatch(/^You can have a \(table\) .*\(seven,\) -and -for -it -twenty -euros/);
      expect(Math.max(...timedWords(factsOf(given), unchanged).map(({ endMs }) => endMs))).toBeLessThanOrEqual(2_400);
      expect(texts(given)[0]).not.toContain('twenty euros');
    },
  );

  it('are at least the beginning of the first one, which is uncertain', () => {
    const given = {
      arrivals: [dropped(1, 1_000, 150, 1_000)],
      said: [said(1, 1_000, 'Good evening')],
      clears: [clear(1_150)],
    };
    expect(hearings({ ...given, agent: [agentSound(1_000, 1_150)] })).toBe('(Good) -evening');
  });

  it('omit the time of a word that was cleared before it was played', () => {
    const given = {
      arrivals: [
        burst(1, 1_000, 500),
        burst(2, 1_000, 0, { playedFromMs: 1_500, playedToMs: 1_500, isCut: true, sentMs: 500 }),
      ],
      said: [said(1, 1_000, 'ab'), said(2, 1_000, 'cd')],
      ...{ agent, clears },
    };
    expect(texts(given)).toEqual(['ab']);
    expect(voiceEntries(factsOf(given))[0]).not.toHaveProperty('interrupted');
  });
});

describe('the words of an item that the end of the call cuts', () => {
  const end = { by: 'caller', code: 'script_over', reason: '', atMs: 1_500 } as const;

  it('were heard if their middle was played', () => {
    const given = {
      arrivals: [burst(1, 1_000, 1_000)],
      said: [said(1, 1_000, 'ab cd efgh')],
      agent: [agentSound(1_000, 1_500)],
      end,
    };
    expect(hearings(given)).toBe('ab cd -efgh');
  });

  it('are uncertain in the end if more of its audio may have followed', () => {
    const arrivals = paced(1, 1_000, 500);
    const given = { arrivals, said: [said(1, 1_000, 'ab cde fg klm nop qr')], agent: [agentSound(1_000, 1_500)], end };
    expect(hearings(given)).toBe('ab (cde) (fg) (klm) (nop) -qr');
  });
});

describe('a sound of the agent', () => {
  it('has only a part of its words known if another item in it has none', () => {
    const given = {
      arrivals: [burst(1, 1_000, 500), burst(2, 1_500, 500)],
      said: [said(1, 1_000, 'ab')],
      agent: [agentSound(1_000, 2_000)],
    };
    expect(texts(given)).toEqual(['ab', null]);
    expect(voiceEntries(factsOf(given))).toMatchObject([{ text: 'ab', words: 'partly' }]);
  });

  it('has the words of several items', () => {
    const given = {
      arrivals: [burst(1, 1_000, 500), burst(2, 1_500, 500)],
      said: [said(1, 1_000, 'ab'), said(2, 1_000, 'cd')],
      agent: [agentSound(1_000, 2_000)],
    };
    expect(voiceEntries(factsOf(given))).toMatchObject([{ text: 'ab cd', words: 'known' }]);
    expect(utterancesOf(factsOf(given))).toMatchObject([{ item: 1, startMs: 1_000, endMs: 1_500 }, { item: 2 }]);
  });

  it('has no words that were played too quietly to be heard', () => {
    expect(timedWords(factsOf({ arrivals: [burst(1, 1_000, 500)], said: [said(1, 1_000, 'ab')] }), unchanged)).toEqual(
      [],
    );
  });
});

describe('the words of a call', () => {
  const given = {
    caller: [line(100, 900, { words: [{ text: 'hi', startMs: 100, endMs: 900 }] })],
    arrivals: [burst(1, 1_000, 60_000)],
    agent: [agentSound(1_000, 61_000)],
  };

  it('are both sides, in order', () => {
    const { words } = wordsOfCall(factsOf({ ...given, said: [said(1, 1_000, 'ab')] }), unchanged);
    expect(words.map(({ speaker, text }) => `${speaker} ${text}`)).toEqual(['caller hi', 'agent ab']);
  });

  it('are limited, and the rest is counted', () => {
    const many = Array.from({ length: 3 }, (_, n) => n + 1);
    const ms = 1_250_000;
    const { words, wordsOmitted } = wordsOfCall(
      factsOf({
        ...given,
        arrivals: many.map((item) => burst(item, 1_000 + item * ms, ms)),
        said: many.map((item) => said(item, 1_000, 'a '.repeat(10_000))),
        agent: [agentSound(1_000, 4 * ms)],
        end: { by: 'caller', code: 'script_over', reason: '', atMs: 5 * ms },
      }),
      unchanged,
    );
    expect([words.length, wordsOmitted]).toEqual([20_000, 10_001]);
  });

  it('have no secrets, also where a secret has several words', () => {
    const facts = factsOf({ ...given, said: [said(1, 1_000, 'the pin is four two yes')] });
    const clean = (text: string) => text.replace('four two', '[redacted]');
    const agent = wordsOfCall(facts, clean).words.filter(({ speaker }) => speaker === 'agent');
    expect(agent.map(({ text }) => text).join(' ')).not.toMatch(/four|two/);
  });

  it('give the rate of speech where all words of a sound are known', () => {
    const end = { by: 'caller', code: 'script_over', reason: '', atMs: 70_000 } as const;
    const facts = factsOf({ ...given, said: [said(1, 1_000, 'a '.repeat(150))], end });
    expect(voiceMeasures(facts).agentWordsPerMinute).toBe(150);
    expect(voiceMeasures(factsOf({ ...given, said: [] })).agentWordsPerMinute).toBeNull();
  });
});

describe('more words than can be said in the audio of an item', () => {
  const sentence = 'Your booking is confirmed for Tuesday at seven. '.repeat(35);
  const beep = { arrivals: [burst(1, 1_000, 300)], agent: [agentSound(1_000, 1_300)] };

  it('are not known, and a finding says how many they are', () => {
    const facts = factsOf({ ...beep, said: [said(1, 1_000, sentence)] });
    expect(texts(facts)).toEqual([null]);
    expect(voiceEntries(facts)).toMatchObject([{ text: '', words: 'unknown' }]);
    expect(voiceMeasures(facts).agentWordsPerMinute).toBeNull();
    expect(wordsOfCall(facts, unchanged)).toEqual({ words: [], wordsFrom: null });
    expect(wordFindings(facts)).toMatchObject([
      { code: 'words_exceed_audio', severity: 'warning', atMs: 1_000, detail: '280 words for 300 ms of audio' },
    ]);
  });

  it('stay unknown even if the platform reports word times', () => {
    const words = sentence
      .trim()
      .split(' ')
      .map((text, n) => ({ text, startMs: n, endMs: n + 1 }));
    const facts = factsOf({ ...beep, said: [said(1, 1_000, sentence, { words })] });
    expect(texts(facts)).toEqual([null]);
    expect(wordFindings(facts)).toHaveLength(1);
  });

  it('are uncertain as far as they can be said, where the text was ahead of audio that did not arrive', () => {
    const arrivals = [dropped(1, 1_000, 200, 300)];
    const report = said(1, 1_000, sentence, { final: false });
    const facts = { arrivals, said: [report], agent: [agentSound(1_000, 1_200)], clears: [clear(1_200)] };
    // 200 ms are 6 letters.
    expect(hearings(facts)).toMatch(/^\(Your\) \(booking\) -is /);
    expect(hearings(facts)).not.toMatch(/ \w|-\w+ \(/);
    expect(wordFindings(factsOf(facts))).toEqual([]);
  });

  it('are not kept beyond a number for the whole call', () => {
    const items = Array.from({ length: 20 }, (_, n) => n + 1);
    const facts = factsOf({
      arrivals: items.map((item) => dropped(item, item * 200, 100, 200)),
      said: items.map((item) => said(item, item * 200, 'a '.repeat(10_000), { final: false })),
      clears: items.map((item) => clear(item * 200 + 100)),
    });
    expect(wordsOfItems(facts).filter(({ words }) => words)).toHaveLength(5);
  });
});

describe('the words of a call with many messages', () => {
  /** How often a time of an arrival is read for two items that alternate, each with a word for 500 ms. */
  function readsOf(count: number): number {
    let reads = 0;
    const arrivals = Array.from({ length: count }, (_, n) => ({
      ...burst(1 + (n % 2), n * 5, 5),
      get playedToMs() {
        reads++;
        return n * 5 + 5;
      },
    }));
    const endMs = count * 5;
    const text = 'word '.repeat(endMs / 1_000);
    const facts = factsOf({
      arrivals,
      said: [said(1, endMs, text), said(2, endMs, text)],
      agent: [agentSound(0, endMs)],
      end: { by: 'caller', code: 'script_over', reason: '', atMs: endMs + 10_000 },
    });
    expect(wordsOfCall(facts, unchanged).words).toHaveLength((2 * endMs) / 1_000);
    voiceEntries(facts);
    voiceMeasures(facts);
    return reads;
  }

  it('are placed in steps that grow with the messages, not with messages times words', () => {
    expect(readsOf(16_000) / readsOf(4_000)).toBeLessThan(5);
  });

  it('are placed once for given facts', () => {
    const facts = factsOf({
      arrivals: [burst(1, 0, 1_000)],
      said: [said(1, 0, 'abcd')],
      agent: [agentSound(0, 1_000)],
    });
    expect(wordsOfItems(facts)).toBe(wordsOfItems(facts));
  });
});
