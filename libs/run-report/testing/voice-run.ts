import type { CheckResult, Measures, TimelineEntry } from '../../simulation/index.js';
import type { ReportedCall, ReportedRun, ReportedAudio, ReportedVoice } from '../index.js';
import { buildRun, readerOf } from './build.js';

const SECONDS = 24;
const RATE = 8_000;
const LINES = [
  { text: 'Good evening. What is on the menu tonight?', startMs: 3_100, endMs: 5_400 },
  { text: 'Sorry, only the vegan dishes, please.', startMs: 8_200, endMs: 10_300 },
  { text: 'Thank you. A table for four, at eight.', startMs: 15_900, endMs: 18_300 },
];
const ANSWERS = [
  { startMs: 640, endMs: 2_300, turn: 0 },
  { startMs: 6_212, endMs: 9_950, turn: 1 },
  { startMs: 11_050, endMs: 12_400, turn: 2 },
  { startMs: 12_900, endMs: 14_700, turn: 2 },
  { startMs: 17_500, endMs: 19_200, turn: 3 },
];

/** A voice call in which the agent yields late, interrupts the caller and breaks its protocol once. */
export const VOICE: ReportedVoice = {
  measures: {
    clock: 'heard',
    latencies: [
      latency(1, 812),
      { ...latency(2, 750), leadInMs: 400 },
      {
        turn: 3,
        heardMs: null,
        firstByteMs: null,
        leadingSilenceMs: null,
        answered: true,
        note: 'already_speaking',
        plusMinusMs: 0,
      },
    ],
    bargeIns: [
      {
        atMs: 8_200,
        afterHeardMs: 1_900,
        possible: true,
        yielded: true,
        yieldMs: 1_750,
        plusMinusMs: 0,
        heardUntilMs: 1_988,
      },
    ],
    backchannels: [{ type: 'backchannel', atMs: 13_400, kept: true }],
    interruptions: [{ atMs: 17_500, overlapMs: 800, inHesitation: false }],
    overlapMs: 800,
    deadAir: { totalMs: 0, longestMs: 0, over3s: 0 },
    choppiness: { gaps: 0, perMinute: 0 },
    speech: { agentMs: 10_248, callerMs: 6_800 },
    speechShare: 0.601,
    agentWordsPerMinute: null,
    level: { agentDbfs: -21.4, clippedPercent: 0 },
    greetingMs: 640,
    collisions: 0,
    background: null,
  },
  wireFindings: [
    {
      code: 'mark_without_name',
      severity: 'error',
      atMs: 6_300,
      detail: 'A mark has no name',
      source: 'Twilio Media Streams: mark',
    },
  ],
  words: [],
  lanes: { caller: LINES.map(({ startMs, endMs }) => ({ startMs, endMs })), agent: ANSWERS },
  frameLatenessMs: { p50: 0.4, p99: 2.1, worst: 7.9 },
  recording: { seconds: SECONDS, bytes: 2 * RATE * SECONDS + 58 },
};

function latency(turn: number, heardMs: number): ReportedVoice['measures']['latencies'][number] {
  return { turn, heardMs, firstByteMs: heardMs - 40, leadingSilenceMs: 40, answered: true, plusMinusMs: 0 };
}

const TIMELINE: readonly TimelineEntry[] = [
  ...LINES.map(({ text, startMs, endMs }, index): TimelineEntry => {
    const spoken = { type: 'speech', speaker: 'caller', text, start: startMs, end: endMs, turn: index + 1 } as const;
    return index === 1 ? { ...spoken, bargeIn: { afterMs: 1_900, possible: true } } : spoken;
  }),
  ...ANSWERS.map(({ startMs, endMs, turn }): TimelineEntry => ({
    type: 'speech',
    speaker: 'agent',
    text: '',
    words: 'unknown',
    start: startMs,
    end: endMs,
    turn,
  })),
  {
    type: 'sound',
    speaker: 'caller',
    kind: 'backchannel',
    name: 'mm-hmm',
    possible: true,
    start: 13_400,
    end: 13_750,
    turn: 2,
  },
  {
    type: 'finding',
    code: 'mark_without_name',
    severity: 'error',
    detail: 'A mark has no name',
    start: 6_300,
    end: 6_300,
    turn: 1,
  },
  { type: 'platform', event: 'transfer', detail: '+12025550177', start: 24_000, end: 24_000, turn: 3 },
  { type: 'end', by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up', start: 24_000, end: 24_000, turn: 3 },
].sort((a, b) => a.start - b.start) as readonly TimelineEntry[];

const CHECKS: readonly CheckResult[] = [
  {
    index: 0,
    type: 'max_interruptions',
    name: 'The agent never interrupts',
    weight: 1,
    required: true,
    met: false,
    detail: 'The agent interrupted the caller 1 time; the limit is 0',
    evidence: [{ entry: TIMELINE.findIndex(({ start }) => start === 17_500), quote: '' }],
  },
];

const NO_MODELS = { requests: 0, ms: 0, promptTokens: 0, completionTokens: 0, costUsd: 0 };
const MEASURES: Measures = {
  durationMs: SECONDS * 1_000,
  turns: 3,
  latency: { count: 2, p50: 650, p90: null, p95: null, p99: null, worst: 812 },
  timeToFirstWordMs: 640,
  words: { caller: 21, agent: null },
  talkRatio: null,
  longestSilenceMs: 1_200,
  toolCalls: null,
  endedBy: 'agent',
  endCode: 'agent_hung_up',
  endReason: 'The agent hung up',
  tester: { caller: NO_MODELS, judge: NO_MODELS, costUsd: 0 },
};

/** A run of voice calls; every tenth one passed. */
export function voiceRun(calls: number, more: Partial<ReportedRun> = {}) {
  const built = buildRun([{ name: 'Asks for the menu and books', calls: Array(calls).fill('pending') }], more);
  const heard = built.calls.map((call, index): ReportedCall => ({
    ...call,
    status: 'ENDED',
    outcome: index % 10 === 9 ? 'passed' : 'failed',
    score: index % 10 === 9 ? 100 : 0,
    reason: 'Not met: The agent never interrupts (The agent interrupted the caller 1 time; the limit is 0).',
    startedAt: built.run.startedAt,
    endedAt: built.run.endedAt,
    attempts: 1,
    timeline: TIMELINE,
    checks: CHECKS,
    measures: MEASURES,
    voice: VOICE,
  }));
  return { ...built, calls: heard, read: readerOf(heard) };
}

/** Peaks of syllables in the lanes, and a recording of a quiet tone in mu-law. */
export function voiceAudio({ wav }: { readonly wav: boolean }): ReportedAudio {
  const peaks = (spans: readonly { startMs: number; endMs: number }[]) =>
    Array.from({ length: SECONDS * 50 }, (_, part) => {
      const isSpoken = spans.some(({ startMs, endMs }) => part * 20 >= startMs && part * 20 < endMs);
      const level = isSpoken ? Math.round(9_000 * Math.abs(Math.sin(part / 4)) + 500) : 20;
      return [-level, level];
    }).flat();
  const audio = { peaks: { caller: peaks(LINES), agent: peaks(ANSWERS) } };
  return wav ? { ...audio, wav: tone() } : audio;
}

function tone(): Uint8Array {
  const samples = 2 * RATE * SECONDS;
  const header = Buffer.alloc(58);
  header.write('RIFF', 0);
  header.writeUInt32LE(50 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(18, 16);
  header.writeUInt16LE(7, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(2 * RATE, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(8, 34);
  header.write('fact', 38);
  header.writeUInt32LE(4, 42);
  header.writeUInt32LE(samples / 2, 46);
  header.write('data', 50);
  header.writeUInt32LE(samples, 54);
  const data = Buffer.from(Uint8Array.from({ length: samples }, (_, index) => (index % 32 < 16 ? 0xef : 0x6f)));
  return Buffer.concat([header, data]);
}
