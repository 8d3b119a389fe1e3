import { playedOfItem } from '../hearing/item-played.js';
import { COLLISION } from '../hearing/agent-turns.js';
import { isBackchannel } from './agent-backchannels.js';
import type { AgentSound, SayAct, SoundAct, Span, VoiceFacts } from '../facts/facts.js';
import type { BargeInResult, SoundResult, VoiceMeasures } from '../facts/results.js';
import { CONTINUATION_MS, speechAt, type SpokenLine, takesFloor } from './lines.js';
import { contains, lengthOf, overlapOf, tenth } from '../facts/spans.js';
import { uncertaintyWithin } from './uncertainty.js';

/** The agent has not yielded if it stops speaking later than this after the caller's onset (tau-voice). */
export const YIELD_MS = 2_000;
/** With at least this much audio buffered, only a `clear` yields. */
export const BUFFERED_MS = 500;
/** Silence after which the agent counts as stopped. */
const SILENCE_MS = 200;
/** Speech that ends within this time after the caller's onset may have ended by itself. */
const NATURAL_END_MS = 500;
/** The agent kept its turn if it speaks this long after a backchannel or noise (tau-voice). */
export const KEPT_MS = 1_000;
/** Speech within this time after a noise in silence answers it (tau-voice). */
export const ANSWERED_NOISE_MS = 2_000;
/** A shorter overlap, or a shorter sound during a hesitation, is not an interruption. */
export const MIN_OVERLAP_MS = 300;

export const bargeInsOf = (facts: VoiceFacts, lines: readonly SpokenLine[]): BargeInResult[] =>
  lines.flatMap(({ act, over }) => (act.bargeIn ? [bargeInOf(facts, act, act.bargeIn, over)] : []));

/** Whether the call ended while the agent spoke: then it is unknown whether it would have stopped. */
export const isCutByEnd = ({ end }: VoiceFacts, speechEndMs: number): boolean => end.atMs - speechEndMs < SILENCE_MS;

function bargeInOf(
  facts: VoiceFacts,
  act: SayAct,
  { possible, afterHeardMs, heardUntilMs, bufferedMs }: NonNullable<SayAct['bargeIn']>,
  over: readonly AgentSound[],
): BargeInResult {
  const { startMs } = act;
  const end = over.at(-1)?.endMs;
  const heardMs = possible && end !== undefined ? Math.max(heardUntilMs, playedAtCut(facts, act, end)) : heardUntilMs;
  const result = { atMs: tenth(startMs), afterHeardMs: tenth(afterHeardMs), heardUntilMs: tenth(heardMs) };
  if (!possible || end === undefined) {
    return { ...result, possible: false, yielded: null, yieldMs: null, plusMinusMs: 0 };
  }
  const yieldMs = tenth(end - startMs);
  const isCleared = hasClear(facts, { startMs, bufferedMs, endMs: end });
  const isCut = isCutByEnd(facts, end);
  // The agent had sent all of the played audio before the caller began, so it did not stop for the caller.
  const wasSending = end > startMs + bufferedMs;
  // A recording does not show what was sent, so only speech that breaks off shows that the agent stopped for the caller.
  const isRecorded = facts.imported !== undefined;
  const breaksOff = over.at(-1)!.breaksOff === true;
  const hasStopped = isRecorded ? breaksOff : wasSending && (breaksOff || isAnsweredAfter(facts, act, end));
  const yielded = hasYielded({ yieldMs, isCleared, isCut, bufferedMs, hasStopped, isRecorded });
  const { plusMinusMs } = uncertaintyWithin(facts, { startMs, endMs: end });
  return { ...result, possible, yielded, yieldMs, plusMinusMs };
}

/** Milliseconds of the agent's item that were played when its audio was dropped or ended. */
function playedAtCut({ arrivals, caller, clears }: VoiceFacts, { startMs }: SayAct, endMs: number): number {
  const isCut = ({ atMs, droppedMs }: VoiceFacts['clears'][number]) =>
    droppedMs > 0 && atMs >= startMs && atMs <= endMs + NATURAL_END_MS;
  const before = caller.findLast((act) => takesFloor(act) && act.endMs <= startMs);
  return playedOfItem([...arrivals].reverse(), clears.find(isCut)?.atMs ?? endMs, before?.endMs ?? 0);
}

/**
 * Whether the agent cleared the audio over which the caller barged in. A `clear` after all of it was played stops nothing, unless
 * the agent sends its audio in real time.
 * @param startMs onset of the caller's line
 * @param bufferedMs audio of the agent in the buffer at that time
 * @param endMs end of the agent's sound
 */
export function hasClear(
  { clears }: Pick<VoiceFacts, 'clears'>,
  { startMs, bufferedMs, endMs }: Span & { readonly bufferedMs: number },
): boolean {
  const playedAt = startMs + bufferedMs;
  const isSentLive = bufferedMs < BUFFERED_MS && endMs > playedAt;
  return clears.some(
    ({ atMs, droppedMs }) =>
      atMs >= startMs && atMs <= endMs + NATURAL_END_MS && (atMs <= playedAt || droppedMs > 0 || isSentLive),
  );
}

/** Whether the agent stayed silent from its stop to the end of the caller's line, and then said something else. */
function isAnsweredAfter({ agent, caller }: VoiceFacts, line: SayAct, stoppedMs: number): boolean {
  const next = agent.find(({ startMs }) => startMs >= stoppedMs);
  const nextLine = caller.find((act) => takesFloor(act) && act.startMs >= line.endMs);
  return next !== undefined && next.startMs >= line.endMs && next.startMs < (nextLine?.startMs ?? Infinity);
}

interface Reaction {
  readonly yieldMs: number;
  readonly isCleared: boolean;
  readonly isCut: boolean;
  readonly bufferedMs: number;
  /** Whether there is proof that the agent stopped rather than finished by itself. */
  readonly hasStopped: boolean;
  readonly isRecorded: boolean;
}

function hasYielded({ yieldMs, isCleared, isCut, bufferedMs, hasStopped, isRecorded }: Reaction): boolean | null {
  if (yieldMs > YIELD_MS) return false;
  if (isCleared) return true;
  if (isCut) return null;
  if (bufferedMs >= BUFFERED_MS) return false;
  return hasStopped || (!isRecorded && yieldMs > NATURAL_END_MS) ? true : null;
}

/** Whether the agent kept speaking through each backchannel and noise, and answered no noise in silence. */
export const soundResultsOf = (facts: VoiceFacts): SoundResult[] =>
  facts.caller.flatMap((act) => (isSound(act) ? [soundResultOf(facts, act)] : []));

type ListenersSound = SoundAct & { readonly type: SoundResult['type'] };

const isSound = (act: VoiceFacts['caller'][number]): act is ListenersSound =>
  act.type === 'backchannel' || act.type === 'noise';

function soundResultOf(facts: VoiceFacts, act: ListenersSound): SoundResult {
  const result = { type: act.type, atMs: tenth(act.startMs) };
  if (!act.possible) return { ...result, kept: null };
  return { ...result, kept: act.afterMs === null ? isLeftAlone(facts, act) : isSpokenThrough(facts, act) };
}

/** Whether the agent left a noise in silence unanswered. Null if the caller spoke, or the call ended, too soon to know. */
function isLeftAlone({ agent, caller, end }: VoiceFacts, { startMs, endMs }: SoundAct): boolean | null {
  const until = startMs + ANSWERED_NOISE_MS;
  const answer = agent.find((sound) => sound.startMs >= startMs && sound.startMs < until);
  const next = caller.find((act) => act.type === 'say' && act.startMs >= endMs);
  if (answer && (!next || answer.startMs < next.startMs)) return false;
  return end.atMs < until || (next && next.startMs < until) ? null : true;
}

/** Null if the agent's speech ended by itself at that time. */
function isSpokenThrough(facts: VoiceFacts, { startMs }: SoundAct): boolean | null {
  const speech = speechAt(facts, startMs);
  const end = speech.at(-1)?.endMs;
  if (end === undefined) return null;
  const until = startMs + KEPT_MS;
  if (end >= until) return true;
  // A clear after the speech had ended stopped nothing.
  const isCleared = facts.clears.some(
    ({ atMs, droppedMs }) => atMs >= startMs && atMs <= until && (droppedMs > 0 || atMs <= end + SILENCE_MS),
  );
  return isCleared ? false : null;
}

type Interruption = VoiceMeasures['interruptions'][number];

export interface FloorConflicts {
  readonly interruptions: readonly Interruption[];
  readonly collisions: number;
}

/** Sounds of the agent that began while the caller spoke or hesitated, except backchannels. */
export function conflictsOf(facts: VoiceFacts, lines: readonly SpokenLine[]): FloorConflicts {
  const { agent } = facts;
  const interruptions: Interruption[] = [];
  let collisions = 0;
  for (const [index, { act, during }] of lines.entries()) {
    const goesOn = lines[index - 1]?.act.goesOn === true;
    for (const speech of speechesOf(during)) {
      const first = speech[0]!;
      const previous = agent[agent.indexOf(first) - 1];
      const isAtOnce = first.startMs - act.startMs < COLLISION.afterCallerMs;
      // In the pause before this part the agent could assume that the caller's line had ended.
      if ((goesOn && isAtOnce) || isCollision(act, first, previous, lines[0]?.act)) {
        collisions++;
        continue;
      }
      if (isBackchannel(facts, act, first)) continue;
      const overlapMs = tenth(speech.reduce((sum, sound) => sum + overlapOf(act, sound), 0));
      const inHesitation = !act.parts.some((part) => contains(part, first.startMs));
      // A sound during a hesitation need not overlap with words.
      if ((inHesitation ? lengthOf(speech) : overlapMs) < MIN_OVERLAP_MS) continue;
      interruptions.push({ atMs: tenth(first.startMs), overlapMs, inHesitation });
    }
  }
  return { interruptions, collisions };
}

/** @param previous undefined before the greeting, which collides only with the caller's first line */
const isCollision = (
  act: SayAct,
  sound: AgentSound,
  previous: AgentSound | undefined,
  firstLine: SayAct | undefined,
): boolean =>
  sound.startMs - act.startMs < COLLISION.afterCallerMs &&
  (previous ? sound.startMs - previous.endMs < COLLISION.afterAgentMs : act === firstLine);

/** Joins sounds with short silences between them. */
function speechesOf(sounds: readonly AgentSound[]): AgentSound[][] {
  const speeches: AgentSound[][] = [];
  for (const sound of sounds) {
    const last = speeches.at(-1);
    if (last && sound.startMs - last.at(-1)!.endMs < CONTINUATION_MS) last.push(sound);
    else speeches.push([sound]);
  }
  return speeches;
}
