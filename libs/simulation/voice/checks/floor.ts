import type {
  KeepsSpeakingSpec,
  MaxInterruptionsSpec,
  MaxOverlapSpec,
  YieldsSpec,
} from '../../../evaluation-definition/index.js';
import { count, type Finding } from '../../checks/check-result.js';
import { WITHOUT_WORDS } from '../../checks/kind.js';
import type { EventFinder } from '../../checks/occurrences.js';
import { decide, time, timeFinding } from '../../checks/times.js';
import type { TimelineEntry } from '../../timeline/timeline.js';
import type { CallerAct, Span, VoiceFacts } from '../facts/facts.js';
import { hasClear, isCutByEnd, MIN_OVERLAP_MS, YIELD_MS } from '../measures/floor.js';
import { stallAndLagWithin } from '../measures/lag.js';
import { isBesideBed, uncertaintyWithin } from '../measures/uncertainty.js';
import type { BargeInResult, SoundResult } from '../facts/results.js';
import { at, notExercised, settled } from './finding.js';
import type { Sounds, VoiceEvidence } from './kind.js';

export const FLOOR = {
  yields_within_ms: {
    ...WITHOUT_WORDS,
    evaluate: ({ ms }, evidence, { view }) => agentYields(ms, evidence, view.entries),
  },
  keeps_speaking: { ...WITHOUT_WORDS, evaluate: agentKeepsSpeaking },
  max_interruptions: { ...WITHOUT_WORDS, evaluate: interruptionsWithin },
  max_overlap_ms: { ...WITHOUT_WORDS, evaluate: overlapWithin },
} satisfies Pick<Sounds, (YieldsSpec | KeepsSpeakingSpec | MaxInterruptionsSpec | MaxOverlapSpec)['type']>;

type Entries = readonly TimelineEntry[];

const isCallersLine = (entry: TimelineEntry): boolean => entry.type === 'speech' && entry.speaker === 'caller';
const isAgentsSpeech = (entry: TimelineEntry): boolean => entry.type === 'speech' && entry.speaker === 'agent';
const isSound = (entry: TimelineEntry): boolean => entry.type === 'sound';

const CURE = 'ask for a longer answer, or lower afterMs';

/** Every barge-in is yielded to within the limit. */
export function agentYields(limit: number, { voice, facts }: VoiceEvidence, entries: Entries): Finding {
  if (voice.bargeIns.length === 0) return notExercised('The caller never barged in');
  const findings = voice.bargeIns.map((attempt): Finding => {
    const evidence = at(entries, isCallersLine, attempt.atMs);
    return { ...yielded(limit, attempt, facts), evidence };
  });
  const failed = findings.find(({ met }) => met === false);
  if (failed) return settled(failed);
  // An interruption of a caller without a script may come to nothing; a barge-in of a script is to be tested.
  const isScripted = facts.caller.some((act) => act.type === 'say' && act.bargeIn && act.step !== null);
  const met = isScripted ? undefined : findings.findLast((finding) => finding.met);
  return met ?? findings.find((finding) => finding.met === null) ?? findings.at(-1)!;
}

function yielded(limit: number, attempt: BargeInResult, facts: VoiceFacts): Finding {
  const { possible, yielded: hasYielded, yieldMs, plusMinusMs, atMs } = attempt;
  if (!possible || yieldMs === null) {
    const isSilent = facts.caller.some((act) => Math.abs(act.startMs - atMs) < 1 && wasPossible(act));
    const why = isSilent
      ? 'The agent was silent when the caller barged in'
      : "The agent's turn ended before the caller could barge in";
    return notExercised(`${why}: ${CURE}`);
  }
  if (hasYielded === null) {
    if (isCutByEnd(facts, atMs + yieldMs))
      return notExercised('The call ended too soon after the barge-in to know whether the agent had stopped');
    const ended = `The agent's speech ended ${Math.round(yieldMs)} ms after the caller barged in`;
    return notExercised(`${ended}, and nothing shows whether it stopped or was over: ${CURE}`);
  }
  const heard = { startMs: atMs, endMs: atMs + yieldMs };
  const measured = { ms: yieldMs, plusMinusMs, ...(isBesideBed(facts, heard) && { isBesideBed: true as const }) };
  if (!hasYielded) {
    const detail = `The agent did not yield: ${afterWindow(limit, attempt, yieldMs, facts)}`;
    return { met: false, detail, evidence: [] };
  }
  const met = decide(limit, measured) ?? (certainMs(facts, heard) > limit ? false : null);
  const mayGoOn = facts.agent.some((sound) => sound.mayGoOn && Math.abs(sound.endMs - heard.endMs) < 1);
  const isOpen = met === true && mayGoOn && !hasClear(facts, { ...heard, bufferedMs: 0 });
  const detail = `The agent stopped after ${time(measured)}; the limit is ${limit}`;
  return timeFinding(isOpen ? null : met, detail, [], isOpen ? { isBesideBed: true } : measured);
}

/** How long its own voice, which no background audio is, went on at least. */
function certainMs(facts: VoiceFacts, heard: Span): number {
  const ends = facts.agent.flatMap(({ certain, startMs }) => (certain && startMs < heard.endMs ? [certain.endMs] : []));
  return Math.max(-Infinity, ...ends) - heard.startMs - stallAndLagWithin(facts, heard);
}

/** When the agent stopped that did not yield. */
function afterWindow(limit: number, { atMs, plusMinusMs }: BargeInResult, yieldMs: number, facts: VoiceFacts): string {
  const after = time({ ms: yieldMs, plusMinusMs });
  if (yieldMs <= YIELD_MS) return `it was heard for ${after} more, all the sound that it had sent, without a clear`;
  if (isCutByEnd(facts, atMs + yieldMs)) return `it was still heard when the call ended, ${after} later`;
  return yieldMs > limit
    ? `it stopped after ${after}; the limit is ${limit}`
    : `it stopped after ${after}, and a higher limit than ${YIELD_MS} ms does not count`;
}

const wasPossible = (act: CallerAct): boolean => act.type === 'say' && act.bargeIn?.possible === true;

/** The agent goes on through every backchannel and noise of the script, and does not answer a noise in silence. */
function agentKeepsSpeaking(_: KeepsSpeakingSpec, { voice }: VoiceEvidence, { view }: EventFinder): Finding {
  const { backchannels } = voice;
  if (backchannels.length === 0) return notExercised('The caller made no backchannel or noise');
  const evidence = ({ atMs }: SoundResult) => at(view.entries, isSound, atMs);
  const lost = backchannels.find(({ kept }) => kept === false);
  if (lost)
    return settled({ met: false, detail: `The agent took a ${lost.type} for a turn`, evidence: evidence(lost) });
  const open = backchannels.find(({ kept }) => kept === null);
  if (open)
    return {
      ...notExercised(`The agent, or the call, ended too soon around a ${open.type}`),
      evidence: evidence(open),
    };
  return { met: true, detail: `The agent kept its turn through ${count(backchannels.length, 'sound')}`, evidence: [] };
}

/** Where one side was never heard, neither could speak over the other. */
const oneSideUnheard = ({ speech }: VoiceEvidence['voice']): Finding =>
  notExercised(speech.agentMs === 0 ? 'The agent was not heard' : 'The caller said nothing');

/** An interruption that may only be background audio, or that this makes longer than it was, fails no agent. */
function interruptionsWithin(
  { count: limit }: MaxInterruptionsSpec,
  { voice, facts }: VoiceEvidence,
  { view }: EventFinder,
): Finding {
  const { interruptions, overlapMs } = voice;
  if (overlapMs === null) return oneSideUnheard(voice);
  const inHesitation = interruptions.filter((one) => one.inHesitation).length;
  const where = interruptions.length === inHesitation ? 'in a hesitation' : `${inHesitation} of them in a hesitation`;
  const times = count(interruptions.length, 'time') + (inHesitation === 0 ? '' : `, ${where}`);
  const detail = `The agent interrupted the caller ${times}; the limit is ${limit}`;
  const beyond = interruptions[limit] ?? interruptions.at(-1);
  const evidence = beyond ? at(view.entries, isAgentsSpeech, beyond.atMs) : [];
  const certain = interruptions.filter(({ atMs, overlapMs: ms }) => {
    const { plusMinusMs, isBesideBed } = uncertaintyWithin(facts, { startMs: atMs, endMs: atMs + ms });
    return !isBesideBed || ms - plusMinusMs >= MIN_OVERLAP_MS;
  });
  if (interruptions.length > limit && certain.length <= limit)
    return timeFinding(null, detail, evidence, { isBesideBed: true });
  return settled({ met: interruptions.length <= limit, detail, evidence });
}

function overlapWithin({ ms: limit }: MaxOverlapSpec, { voice, facts }: VoiceEvidence, { view }: EventFinder): Finding {
  const { interruptions, overlapMs: ms } = voice;
  if (ms === null) return oneSideUnheard(voice);
  const doubts = interruptions.map(({ atMs, overlapMs }) =>
    uncertaintyWithin(facts, { startMs: atMs, endMs: atMs + overlapMs }),
  );
  const plusMinusMs = doubts.reduce((sum, doubt) => sum + doubt.plusMinusMs, 0);
  const beside = doubts.find(({ isBesideBed }) => isBesideBed);
  const detail = `The agent spoke over the caller for ${time({ ms, plusMinusMs })}; the limit is ${limit}`;
  const longest = interruptions.toSorted((a, b) => b.overlapMs - a.overlapMs)[0];
  const evidence = longest ? at(view.entries, isAgentsSpeech, longest.atMs) : [];
  return settled(timeFinding(decide(limit, { ms, plusMinusMs }), detail, evidence, beside));
}
