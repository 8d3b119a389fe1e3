import type { CallResult, VoiceMeasures } from '../../../../../libs/simulation/index.js';
import type { ImportedResult } from './imported.js';

/** A measure of a call and of the same call imported from its recording. */
export interface RoundTrip {
  readonly measure: string;
  readonly made: number | string | boolean | null;
  readonly imported: number | string | boolean | null;
  /** How far both may be apart. */
  readonly plusMinusMs?: number;
  /** `undecided`: the recording does not show it, and the imported call says so. */
  readonly verdict: 'same' | 'undecided' | 'different';
}

type Value = RoundTrip['made'];

/** Compares every measure that a recording shows. Choppiness, first bytes and findings are not among them. */
export function roundTripOf(made: CallResult, imported: ImportedResult): RoundTrip[] {
  const [before, after] = [made.voice!, imported.voice!];
  const [a, b] = [before.voice, after.voice];
  const edgeMs = imported.callerEdgesMs;
  return [
    ...lists('latency', a.latencies, b.latencies, (one, other, name) => [
      time(name, one.heardMs, other.heardMs, one.plusMinusMs + other.plusMinusMs),
      exact(`${name} answered`, one.answered, other.answered),
      exact(`${name} note`, one.note ?? null, other.note ?? null),
    ]),
    ...lists('barge-in', possible(a), possible(b), (one, other, name) => [
      time(`${name} yield`, one.yieldMs, other.yieldMs, one.plusMinusMs + other.plusMinusMs),
      decision(`${name} yielded`, one.yielded, other.yielded),
    ]),
    ...lists('sound', audibleIn(a), b.backchannels, (one, other, name) => [
      decision(`${name} kept`, one.kept, other.kept),
    ]),
    ...lists('interruption', a.interruptions, b.interruptions, (one, other, name) => [
      time(`${name} overlap`, one.overlapMs, other.overlapMs, edgeMs),
    ]),
    time('overlap', a.overlapMs, b.overlapMs, edgeMs * Math.max(1, b.interruptions.length)),
    time('longest dead air', a.deadAir.longestMs, b.deadAir.longestMs, edgeMs),
    time('greeting', a.greetingMs, b.greetingMs, 0.1),
    time('speech of the agent', a.speech.agentMs, b.speech.agentMs, 0.1 * before.lanes.agent.length),
    time('speech of the caller', a.speech.callerMs, b.speech.callerMs, 2 * edgeMs * before.lanes.caller.length),
    exact('collisions', a.collisions, b.collisions),
    exact('words of the caller', textOf(made, 'caller'), textOf(imported, 'caller')),
    exact('words of the agent', textOf(made, 'agent'), textOf(imported, 'agent')),
  ];
}

const possible = ({ bargeIns }: VoiceMeasures) => bargeIns.filter((one) => one.possible);

/** A sound that the caller left out is in no recording. */
const audibleIn = ({ backchannels }: VoiceMeasures) => backchannels.filter(({ kept }) => kept !== null);

const textOf = ({ timeline }: CallResult, side: 'caller' | 'agent'): string =>
  timeline.flatMap((entry) => (entry.type === 'speech' && entry.speaker === side ? entry.text.trim() : [])).join(' | ');

/** Compares lists of the same length one by one. */
function lists<T>(
  name: string,
  made: readonly T[],
  imported: readonly T[],
  compare: (made: T, imported: T, name: string) => RoundTrip[],
): RoundTrip[] {
  const number = exact(`number of ${name === 'latency' ? 'latencies' : `${name}s`}`, made.length, imported.length);
  if (number.verdict !== 'same') return [number];
  return [number, ...made.flatMap((one, index) => compare(one, imported[index]!, `${name} ${index + 1}`))];
}

const exact = (measure: string, made: Value, imported: Value): RoundTrip => ({
  ...{ measure, made, imported },
  verdict: made === imported ? 'same' : 'different',
});

const decision = (measure: string, made: boolean | null, imported: boolean | null): RoundTrip =>
  imported === null && made !== null
    ? { measure, made, imported, verdict: 'undecided' }
    : exact(measure, made, imported);

function time(measure: string, made: number | null, imported: number | null, plusMinusMs: number): RoundTrip {
  if (made === null || imported === null) return exact(measure, made, imported);
  const isWithin = Math.abs(made - imported) <= plusMinusMs;
  return { measure, made, imported, plusMinusMs, verdict: isWithin ? 'same' : 'different' };
}
