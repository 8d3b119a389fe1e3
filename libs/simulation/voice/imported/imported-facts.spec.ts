import { tone } from '../../../audio/index.js';
import { voiceEntries } from '../conversation/voice-timeline.js';
import type { Span } from '../facts/facts.js';
import { hearAgain } from '../hearing/hear-again.js';
import { voiceMeasures } from '../measures/index.js';
import { utterancesOf } from '../words/utterances.js';
import { type ImportedCall, importedFacts } from './imported-facts.js';
import type { TranscriptEntry } from './transcript.js';

const RATE = 8_000;
const LENGTH_MS = 20_000;
type Sound = readonly [startMs: number, endMs: number];

function laneOf(sounds: readonly Sound[], dbfs = -20) {
  const pcm = new Int16Array((LENGTH_MS * RATE) / 1_000);
  for (const [startMs, endMs] of sounds) {
    pcm.set(tone([440], { rate: RATE, ms: endMs - startMs, dbfs }), (startMs * RATE) / 1_000);
  }
  return { rate: RATE, pcm } as const;
}

const imported = (caller: readonly Sound[], agent: readonly Sound[], transcript?: ImportedCall['transcript']) =>
  importedFacts({ caller: laneOf(caller), agent: laneOf(agent), transcript, turnEndMs: 700 });
const said = (speaker: 'agent' | 'caller', text: string, startMs: number, endMs: number): TranscriptEntry => ({
  ...{ speaker, text, startMs, endMs },
});
const spanOf = ({ startMs, endMs }: Span) => [Math.round(startMs), Math.round(endMs)];
const acts = (facts: ReturnType<typeof imported>) => facts.caller.map((act) => [act.type, act.turn, ...spanOf(act)]);

describe('the caller of a recording', () => {
  it('speaks in lines that the agent, or a pause of two seconds, divides', () => {
    const facts = imported(
      [
        [1_000, 2_000],
        [3_200, 4_000],
        [7_000, 8_000],
        [12_000, 13_000],
      ],
      [[8_500, 10_000]],
    );
    expect(acts(facts)).toEqual([
      ['say', 1, 1_000, 4_000],
      ['say', 2, 7_000, 8_000],
      ['say', 3, 12_000, 13_000],
    ]);
    // A pause that is a hesitation.
    expect(facts.caller[0]).toMatchObject({ parts: [{}, {}], text: '', hasUnknownWords: true });
  });

  it.each([-14, -26, -38])('begins and ends at the same moments at %i dBFS', (dbfs) => {
    const caller = laneOf([[1_000, 2_000]], dbfs);
    const { caller: found } = importedFacts({ caller, agent: laneOf([]), turnEndMs: 700 });
    const { startMs, endMs } = found[0]!;
    expect(Math.abs(startMs - 1_000)).toBeLessThan(2);
    expect(Math.abs(endMs - 2_000)).toBeLessThan(2);
  });

  it('barges in with what is a line, and with a short sound only if the transcript has words for it', () => {
    const agent: Sound[] = [[1_000, 6_000]];
    expect(acts(imported([[3_000, 3_400]], agent))).toEqual([['backchannel', 0, 3_000, 3_400]]);
    expect(imported([[3_000, 3_400]], agent).caller[0]).toMatchObject({ possible: false });
    expect(imported([[3_000, 3_400]], agent, [said('caller', 'Stop.', 2_900, 3_500)]).caller).toMatchObject([
      { type: 'say', text: 'Stop.', bargeIn: { possible: true, afterHeardMs: expect.closeTo(2_000, -1) } },
    ]);
    const beside = imported([[3_000, 3_400]], agent, [said('caller', 'Thank you.', 9_000, 10_000)]);
    expect(beside.caller).toMatchObject([{ type: 'backchannel', possible: true }]);
    expect(imported([[3_000, 4_400]], agent).caller).toMatchObject([{ type: 'say', bargeIn: { possible: true } }]);
  });

  it('is not said to have been yielded to if the agent may just have finished', () => {
    const yielded = (agentEndMs: number) =>
      voiceMeasures(imported([[3_000, 4_400]], [[1_000, agentEndMs]]), 'recorded').bargeIns[0]!.yielded;
    expect(yielded(5_600)).toBe(false);
    const faded = laneOf([[1_000, 3_800]]);
    // The last 300 ms decay.
    for (let n = 0; n < 2_400; n++) faded.pcm[28_000 + n] = faded.pcm[28_000 + n]! * (1 - n / 2_400);
    const facts = importedFacts({ caller: laneOf([[3_000, 4_400]]), agent: faded, turnEndMs: 700 });
    expect(voiceMeasures(facts, 'recorded').bargeIns[0]!.yielded).toBeNull();
    // Broken off at its full level.
    const cut = laneOf([[1_000, 6_000]]);
    cut.pcm.fill(0, 28_003);
    const stopped = importedFacts({ caller: laneOf([[3_000, 4_400]]), agent: cut, turnEndMs: 700 });
    expect(voiceMeasures(stopped, 'recorded').bargeIns[0]!.yielded).toBe(true);
  });
});

describe('the words of a recording', () => {
  const CALLER: Sound[] = [[3_000, 4_000]];
  const AGENT: Sound[] = [
    [1_000, 2_000],
    [5_000, 6_000],
    [6_300, 7_000],
    [15_000, 16_000],
  ];
  const WORDS = [
    said('agent', 'Good evening.', 900, 2_100),
    said('caller', 'Until when are you open?', 2_800, 4_300),
    said('agent', 'Until ten, and on Fridays until eleven.', 4_700, 7_200),
  ];

  it('are those of the transcript where it has some, and unknown where it has none', () => {
    const facts = imported(CALLER, AGENT, WORDS);
    expect(utterancesOf(facts).map(({ text }) => text)).toEqual([
      'Good evening.',
      'Until ten, and on Fridays',
      'until eleven.',
      null,
    ]);
    expect(
      voiceEntries(facts).flatMap((entry) => (entry.type === 'speech' ? [[entry.speaker, entry.words]] : [])),
    ).toEqual([
      ['agent', 'known'],
      ['caller', undefined],
      ['agent', 'known'],
      ['agent', 'known'],
      ['agent', 'unknown'],
    ]);
  });

  it('are found though the times of the transcript are rough, and in any order', () => {
    const rough = WORDS.map((entry) => ({
      ...entry,
      startMs: entry.startMs - 400,
      endMs: entry.endMs - 600,
    })).reverse();
    const [first, line, answer] = voiceEntries(imported(CALLER, AGENT.slice(0, 3), rough));
    expect([first, line, answer]).toMatchObject([
      { text: 'Good evening.' },
      { text: 'Until when are you open?' },
      { words: 'known' },
    ]);
  });

  it.each<[string, TranscriptEntry[]]>([
    ['no entries', []],
    ['empty texts', [said('agent', '  ', 900, 2_100), said('caller', '', 2_800, 4_300)]],
    ['entries without a sound', [said('agent', 'Good night.', 18_000, 19_000)]],
  ])('are unknown with %s', (_name, words) => {
    const facts = imported(CALLER, AGENT, words);
    expect(new Set(utterancesOf(facts).map(({ text }) => text))).toEqual(new Set([null]));
  });

  it('of the caller are unknown in a transcript of the agent alone, and its lines are still lines', () => {
    const facts = imported(CALLER, AGENT, WORDS.slice(0, 1));
    expect(facts.caller).toMatchObject([{ type: 'say', text: '', hasUnknownWords: true }]);
    expect(voiceMeasures(facts, 'recorded').latencies).toMatchObject([{ answered: true }]);
  });

  it('of lines that follow each other without a pause are those of one line', () => {
    const two = [said('caller', 'Until when?', 3_000, 3_500), said('caller', 'Today, I mean.', 3_500, 4_000)];
    expect(imported(CALLER, AGENT, two).caller).toMatchObject([{ type: 'say', text: 'Until when? Today, I mean.' }]);
  });

  it('are found in times that overlap or are equal', () => {
    const same = [said('agent', 'one', 1_000, 2_000), said('agent', 'two', 1_000, 2_000)];
    expect(utterancesOf(imported(CALLER, AGENT, same)).length).toBeGreaterThan(0);
  });
});

describe('marks of a recogniser in a transcript', () => {
  const AGENT: Sound[] = [
    [1_000, 3_000],
    [6_000, 8_000],
  ];
  const textsOf = (...texts: readonly [string, string]) => {
    const [first, second] = [said('agent', texts[0], 1_000, 3_000), said('agent', texts[1], 6_000, 8_000)];
    return utterancesOf(imported([[4_000, 5_000]], AGENT, [first, second])).map(({ text }) => text);
  };

  it('are not words', () => {
    expect(textsOf('Good evening.', '[Music] We close at nine.')).toEqual(['Good evening.', 'We close at nine.']);
  });

  it.each(['[inaudible]', 'We close at [unintelligible].'])(
    'leave words unknown in whose place they stand: %s',
    (text) => {
      expect(textsOf('Good evening.', text)).toEqual(['Good evening.', null]);
    },
  );
});

describe('facts of a recording', () => {
  it('are the same when the recording is heard again', () => {
    const [caller, agent] = [
      laneOf([[3_000, 4_000]]),
      laneOf([
        [1_000, 2_000],
        [5_000, 6_000],
      ]),
    ];
    const facts = importedFacts({ caller, agent, turnEndMs: 700, transcript: [said('agent', 'Hello.', 1_000, 2_000)] });
    expect(hearAgain(facts, agent)).toEqual(facts);
  });

  it('have the uncertainty of the caller in what begins or ends with it, and in nothing else', () => {
    const { latencies, choppiness } = voiceMeasures(imported([[3_000, 4_000]], [[5_000, 6_000]]), 'recorded');
    expect(latencies).toMatchObject([{ heardMs: expect.closeTo(1_000, -1), plusMinusMs: 40, firstByteMs: null }]);
    expect(choppiness).toEqual({ gaps: null, perMinute: null });
  });

  it.each([0, 1, 159, 161])('are those of a silent call if it has %i samples', (length) => {
    const lane = { rate: RATE, pcm: new Int16Array(length) } as const;
    expect(importedFacts({ caller: lane, agent: lane, turnEndMs: 700 })).toMatchObject({ caller: [], agent: [] });
  });
});
