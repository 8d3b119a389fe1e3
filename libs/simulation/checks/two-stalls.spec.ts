import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { CallView } from '../timeline/call-view.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { evaluateChecks } from './evaluate-checks.js';

const GAP_MS = 16;
const LENGTHS = [30, 90, 150, 400, 2_000];

const said = (speaker: 'agent' | 'caller', atMs: number, turn: number, text: string): TimelineEntry => ({
  ...{ type: 'speech', speaker, text, turn },
  ...{ start: atMs, end: atMs },
});

/** What happened, of which the agent's part may be read late. */
const CALL: readonly TimelineEntry[] = [
  said('agent', 700, 0, 'Hello.'),
  said('caller', 720, 1, 'A table, please.'),
  said('agent', 1_620, 1, 'A table.'),
  said('agent', 3_020, 1, 'For how many?'),
  said('caller', 3_040, 2, 'For four. Goodbye.'),
  said('agent', 3_640, 2, 'Fine.'),
  { type: 'end', by: 'agent', code: 'agent_hung_up', reason: 'done', start: 8_240, end: 8_240, turn: 2 },
];
/** The agent alone says goodbye. */
const BYE = CALL.map((entry) =>
  entry.type === 'speech'
    ? { ...entry, text: entry.text.replace(' Goodbye.', '').replace('Fine.', 'Goodbye.') }
    : entry,
);
const isOfAgent = (entry: TimelineEntry) =>
  entry.type === 'end' || (entry.type === 'speech' && entry.speaker === 'agent');

/** The entry is read late, together with what the agent said in the meantime; all that follows is late because of it. */
function late(call: readonly TimelineEntry[], index: number, lateMs: number): TimelineEntry[] {
  const readAtMs = call[index]!.start + lateMs;
  let shiftMs = 0;
  return call.map((entry, n) => {
    if (n < index) return entry;
    const isSameTurn = call.slice(index, n + 1).every(isOfAgent);
    if (isSameTurn) shiftMs = Math.max(0, readAtMs - entry.start);
    return { ...entry, start: entry.start + shiftMs, end: entry.end + shiftMs };
  });
}

async function verdict(check: CheckInput, entries: TimelineEntry[], stalls: { start: number; end: number }[] = []) {
  const { checks } = normalise({ checks: [check] });
  const [result] = await evaluateChecks(checks, CallView.of(entries, stalls), () => Promise.resolve());
  return result!.met;
}

/** Every check of a time over text, with the time that it has on this call. */
const TIMES: [checkOf: (ms: number) => CheckInput, ms: number, call: readonly TimelineEntry[]][] = [
  [(ms) => ({ type: 'max_latency_ms', ms, percentile: 100 }), 900, CALL],
  [(ms) => ({ type: 'max_latency_ms', ms, percentile: 50 }), 600, CALL],
  [(ms) => ({ type: 'max_silence_ms', ms }), 4_600, CALL],
  [(ms) => ({ type: 'max_duration_ms', ms }), 8_240, CALL],
  [(ms) => ({ type: 'max_time_to_first_word_ms', ms }), 700, CALL],
  [(ms) => ({ type: 'max_pause_ms', ms }), 1_400, CALL],
  [(ms) => ({ type: 'ends_by', by: 'agent', withinMs: ms }), 5_200, CALL],
  [(ms) => ({ type: 'ends_by', by: 'agent', withinMs: ms }), 4_600, BYE],
];

describe('two stalls within one answer, 16 ms apart', () => {
  it.each(TIMES)('never reverse the verdict on a time, wherever they are: %#', async (checkOf, trueMs, call) => {
    expect([await verdict(checkOf(trueMs), [...call]), await verdict(checkOf(trueMs - 1), [...call])]).toEqual([
      true,
      false,
    ]);
    const reversed: string[] = [];
    let undecided = 0;
    for (const [index, { start: atMs }] of call.entries()) {
      if (!isOfAgent(call[index]!)) continue;
      for (const first of LENGTHS) {
        for (const second of LENGTHS) {
          const end = atMs + first + GAP_MS + second;
          const stalls = [
            { start: atMs, end: atMs + first },
            { start: end - second, end },
          ];
          for (const [limit, met] of [
            [trueMs, true],
            [trueMs - 1, false],
          ] as const) {
            const found = await verdict(checkOf(limit), late(call, index, end - atMs), stalls);
            if (found === null) undecided++;
            else if (found !== met) reversed.push(`${index} late by ${first} + ${second}, limit ${limit}`);
          }
        }
      }
    }
    expect(reversed).toEqual([]);
    expect(undecided).toBeGreaterThan(0);
  });
});
