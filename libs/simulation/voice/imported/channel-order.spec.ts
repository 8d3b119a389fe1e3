import { tone } from '../../../audio/index.js';
import { callerChannel } from './channel-order.js';
import type { TranscriptEntry } from './transcript.js';

const RATE = 8_000;
type Sound = readonly [startMs: number, endMs: number, dbfs?: number];

function laneOf(...sounds: readonly Sound[]) {
  const pcm = new Int16Array(20 * RATE);
  for (const [startMs, endMs, dbfs = -20] of sounds) {
    const sound = tone([440], { rate: RATE, ms: endMs - startMs, dbfs });
    for (const [n, sample] of sound.entries()) pcm[(startMs * RATE) / 1_000 + n]! += sample;
  }
  return { rate: RATE, pcm } as const;
}

const AGENT: Sound[] = [
  [500, 2_500],
  [7_000, 10_000],
];
const CALLER: Sound[] = [
  [4_000, 6_000],
  [12_000, 14_000],
];
const wordsOf = (shiftMs = 0): TranscriptEntry[] =>
  [
    ...AGENT.map(([startMs, endMs]) => ({ speaker: 'agent' as const, startMs, endMs })),
    ...CALLER.map(([startMs, endMs]) => ({ speaker: 'caller' as const, startMs, endMs })),
  ].map((entry) => ({ ...entry, text: 'Words.', startMs: entry.startMs + shiftMs, endMs: entry.endMs + shiftMs }));
const [agent, caller, both] = [laneOf(...AGENT), laneOf(...CALLER), laneOf(...AGENT, ...CALLER)];
const until = <L extends { readonly pcm: Int16Array }>(lane: L, ms: number) => ({
  ...lane,
  pcm: lane.pcm.subarray(0, (ms * RATE) / 1_000),
});
const quieter = (sounds: readonly Sound[], dbfs: number): Sound[] => sounds.map(([from, to]) => [from, to, dbfs]);

describe('the channel of the caller', () => {
  it.each([
    ['exact', 0],
    ['half a second early', -500],
    ['a second late', 1_000],
  ])('is found by times that are %s, whichever it is', (_, shiftMs) => {
    expect(callerChannel([caller, agent], wordsOf(shiftMs))).toBe(0);
    expect(callerChannel([agent, caller], wordsOf(shiftMs))).toBe(1);
  });

  it('is found though the caller is quiet, and its channel has an echo of the agent and noise', () => {
    const noisy = laneOf(...quieter(CALLER, -34), ...quieter(AGENT, -45), [0, 20_000, -55]);
    expect(callerChannel([noisy, agent], wordsOf())).toBe(0);
  });

  it('is found by the agent alone if the caller said nothing', () => {
    const words = wordsOf().filter(({ speaker }) => speaker === 'agent');
    expect(callerChannel([laneOf(), agent], words)).toBe(0);
    expect(callerChannel([agent, laneOf()], words)).toBe(1);
  });

  it.each([
    ['both voices are in both channels', [both, both], wordsOf()],
    ['both voices are in one channel', [laneOf(), both], wordsOf()],
    ['one channel has both voices', [caller, both], wordsOf()],
    ['the times are those of another call', [caller, agent], wordsOf(3_000)],
    ['the times are a whole turn late', [caller, agent], wordsOf(4_000)],
    ['nothing is heard', [laneOf(), laneOf()], wordsOf()],
    ['nothing is heard of the agent', [caller, laneOf()], wordsOf()],
    ['nothing is heard of the caller', [laneOf(), agent], wordsOf()],
    ['an answer of the agent is missing', [caller, laneOf(AGENT[0]!)], wordsOf()],
    ['the recording ends before the words', [caller, agent].map((lane) => until(lane, 12_500)) as never, wordsOf()],
    ['there are no words', [caller, agent], []],
  ] as const)('is not told if %s', (_, lanes, words) => {
    expect(callerChannel(lanes, words)).toBeUndefined();
  });

  it('is found with entries that do not say when they ended', () => {
    const words = wordsOf().map((entry) => ({ ...entry, endMs: entry.startMs }));
    expect(callerChannel([caller, agent], words)).toBe(0);
  });
});
