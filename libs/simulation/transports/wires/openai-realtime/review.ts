import { partitionPoint } from '../../../../audio/index.js';
import { hadCallerSound } from '../../../voice/facts/caller-sounds.js';
import type { SayAct, VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import { realtimeFinding } from './findings.js';

type CallFacts = Omit<VoiceFacts, 'wireFindings'>;

/** Moments that are kept of each kind. */
const MAX_MOMENTS = 10_000;
/** The platform reports speech so long after it began, at the latest, over a slow connection. */
const DETECTED_MS = 2_000;
/** A response that has not begun by then will not come. */
const RESPONSE_MS = 5_000;

/** When the platform reported what, in milliseconds of call time, in order. */
export class Moments {
  readonly speechStarted: number[] = [];
  readonly speechStopped: number[] = [];
  readonly responses: number[] = [];

  readonly unheard: { readonly atMs: number; readonly detail: string }[] = [];

  /** A response was cancelled of which nothing had been heard. */
  cancelled(atMs: number, detail: string): void {
    if (this.unheard.length < MAX_MOMENTS) this.unheard.push({ atMs, detail });
  }

  note(kind: 'speechStarted' | 'speechStopped' | 'responses', atMs: number): void {
    if (this[kind].length < MAX_MOMENTS) this[kind].push(atMs);
  }
}

/** The first of some moments in order that is not before a time; Infinity without one. */
const firstFrom = (moments: readonly number[], ms: number): number =>
  moments[partitionPoint(moments, (moment) => moment < ms)] ?? Infinity;

/** Findings about what the platform heard of the caller, which can be made when the call is over. */
export function reviewCall(facts: CallFacts, moments: Moments): WireFinding[] {
  const cancelled = moments.unheard
    .filter(({ atMs }) => !hadCallerSound(facts, atMs, DETECTED_MS))
    .map(({ atMs, detail }) => ({ ...realtimeFinding('response_cancelled', detail), atMs }));
  return [...cancelled, ...falseStarts(facts, moments), ...unanswered(facts, moments), ...undetected(facts, moments)];
}

/** Speech that was reported while and before the caller made no sound. */
function falseStarts(facts: CallFacts, { speechStarted }: Moments): WireFinding[] {
  return speechStarted
    .filter((at) => !hadCallerSound(facts, at, DETECTED_MS))
    .map((atMs) => {
      const detail = `The caller made no sound in the ${DETECTED_MS / 1_000} s before speech_started`;
      return { ...realtimeFinding('false_speech_started', detail), atMs };
    });
}

function unanswered({ end }: CallFacts, { speechStarted, speechStopped, responses }: Moments): WireFinding[] {
  return speechStopped.flatMap((at) => {
    const until = at + RESPONSE_MS;
    const goesOnAt = speechStarted[partitionPoint(speechStarted, (start) => start <= at)] ?? Infinity;
    const isKnown = end.atMs >= until && goesOnAt >= until;
    if (!isKnown || firstFrom(responses, at) < until) return [];
    const detail = `The platform reported the end of the caller's speech, and no response.created within ${RESPONSE_MS / 1_000} s`;
    return [{ ...realtimeFinding('no_response', detail), atMs: at }];
  });
}

function undetected({ caller, end }: CallFacts, { speechStarted }: Moments): WireFinding[] {
  const lines = caller.filter((act): act is SayAct => act.type === 'say');
  let since = 0;
  return lines.flatMap(({ startMs, endMs }, index) => {
    const until = endMs + DETECTED_MS;
    // Speech that goes on from the line before has been reported then.
    if (!lines[index - 1]?.goesOn) since = startMs;
    const isDetected = firstFrom(speechStarted, since - DETECTED_MS) <= until;
    if (end.atMs < until || isDetected) return [];
    const detail = `The caller spoke for ${Math.round(endMs - startMs)} ms, and the platform reported no speech_started`;
    return [{ ...realtimeFinding('caller_not_detected', detail), atMs: startMs }];
  });
}
