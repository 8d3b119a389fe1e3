import type {
  AudioLevelSpec,
  CleanProtocolSpec,
  MaxChoppinessSpec,
  SpeakingRateSpec,
} from '../../../evaluation-definition/index.js';
import { count, type Finding } from '../../checks/check-result.js';
import { WITHOUT_WORDS } from '../../checks/kind.js';
import type { EventFinder } from '../../checks/occurrences.js';
import { choppyGaps } from '../measures/index.js';
import { at, atSounds, momentsText, notExercised, settled } from './finding.js';
import type { Sounds, VoiceEvidence } from './kind.js';

export const SOUND = {
  // A rate is measured where words are known.
  speaking_rate: { ...WITHOUT_WORDS, evaluate: speakingRateWithin },
  audio_level: { ...WITHOUT_WORDS, evaluate: levelWithin },
  max_choppiness: { ...WITHOUT_WORDS, evaluate: notChoppy },
  clean_protocol: { ...WITHOUT_WORDS, evaluate: isProtocolClean },
} satisfies Pick<Sounds, (SpeakingRateSpec | AudioLevelSpec | MaxChoppinessSpec | CleanProtocolSpec)['type']>;

/** Fewer gaps are an accident of the network. */
const MIN_GAPS = 3;

function speakingRateWithin({ minWpm, maxWpm }: SpeakingRateSpec, { voice, facts }: VoiceEvidence): Finding {
  const rate = voice.agentWordsPerMinute;
  if (rate === null) {
    if (facts.agent.length === 0) return notExercised('The agent was not heard');
    return { ...notExercised('The words of the agent are not known'), undecided: 'words_unknown' };
  }
  const met = rate >= (minWpm ?? 0) && rate <= (maxWpm ?? Infinity);
  return { met, detail: `The agent spoke ${Math.round(rate)} words per minute`, evidence: [] };
}

/** Sound that was sent and is too quiet to be heard fails. */
function levelWithin(
  { minDbfs, maxDbfs, maxClippedPercent }: AudioLevelSpec,
  { voice, facts }: VoiceEvidence,
  { view }: EventFinder,
): Finding {
  const { agentDbfs, clippedPercent, inaudible } = voice.level;
  if (inaudible) {
    const level = facts.level.sentDbfs === null ? '' : ` at ${Math.round(facts.level.sentDbfs)} dBFS`;
    const from = facts.arrivals[0] ? ` (from ${(facts.arrivals[0].playedFromMs / 1_000).toFixed(1)} s on)` : '';
    return { met: false, detail: `The agent sent sound${level}, which is too quiet to be heard${from}`, evidence: [] };
  }
  if (agentDbfs === null || clippedPercent === null) return notExercised('The agent sent no sound');
  const isLoudEnough = minDbfs === undefined || agentDbfs >= minDbfs;
  const isQuietEnough = maxDbfs === undefined || agentDbfs <= maxDbfs;
  const isClean = maxClippedPercent === undefined || clippedPercent <= maxClippedPercent;
  const detail = `The agent's speech has ${agentDbfs} dBFS, and ${clippedPercent} % of its sound is clipped`;
  if (isLoudEnough && isQuietEnough && isClean) return { met: true, detail, evidence: [] };
  // The level is that of all sounds together, so that single ones may be within the limits.
  const sounds = facts.agent.toSorted((a, b) => (isLoudEnough ? b.dbfs - a.dbfs : a.dbfs - b.dbfs)).slice(0, 3);
  const offLevel = isLoudEnough && isQuietEnough ? [] : sounds.map(({ startMs }) => startMs).sort((a, b) => a - b);
  const moments = [...offLevel, ...(isClean ? [] : (facts.level.clippedAtMs ?? []))];
  const where = moments.length === 0 ? '' : `, ${momentsText(moments)}`;
  return { met: false, detail: `${detail}${where}`, evidence: atSounds(view.entries, moments) };
}

function notChoppy(
  { perMinute: limit }: MaxChoppinessSpec,
  { voice, facts }: VoiceEvidence,
  { view }: EventFinder,
): Finding {
  const { gaps, perMinute } = voice.choppiness;
  if (gaps === null || perMinute === null) return notExercised('The agent was not heard');
  const detail = `The agent's speech had ${count(gaps, 'gap')}, ${perMinute} per minute; the limit is ${limit}`;
  if (gaps < MIN_GAPS || perMinute <= limit) return { met: true, detail, evidence: [] };
  // What carries a telephone call fills what it loses with silence.
  if (voice.clock === 'line') return notExercised(`${detail}; they may be those of what carries the call`);
  const moments = choppyGaps(facts).map(({ startMs }) => startMs);
  return { met: false, detail: `${detail}, ${momentsText(moments)}`, evidence: atSounds(view.entries, moments) };
}

function isProtocolClean(_: CleanProtocolSpec, { facts }: VoiceEvidence, { view }: EventFinder): Finding {
  const errors = facts.wireFindings.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (!first) return { met: true, detail: 'The agent kept to the protocol', evidence: [] };
  const codes = [...new Set(errors.map(({ code }) => code))].join(', ');
  const evidence = at(view.entries, (entry) => entry.type === 'finding' && entry.code === first.code, first.atMs ?? 0);
  return settled({ met: false, detail: `The agent broke the protocol (${codes}): ${first.detail}`, evidence });
}
