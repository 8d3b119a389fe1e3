import type { SoundCheckSpec } from '../../../evaluation-definition/index.js';
import type { Finding } from '../../checks/check-result.js';
import type { EvaluateVoiceCheck } from '../../checks/evaluate-checks.js';
import type { EventFinder } from '../../checks/occurrences.js';
import { timeFinding } from '../../checks/times.js';
import { heardAtTheEarliest, voiceMeasures } from '../measures/index.js';
import type { VoiceEvidence } from './evidence.js';
import { agentKeepsSpeaking, agentYields, interruptionsWithin, overlapWithin } from './floor.js';
import { hearsKeys } from './keys.js';
import { isProtocolClean, levelWithin, notChoppy, speakingRateWithin } from './sound.js';

/**
 * Decides the checks that need sound, for one call. If the tester stalled, a check is undecided whose verdict depends on how
 * late the tester read the agent's messages.
 */
export function voiceChecks(evidence: VoiceEvidence): EvaluateVoiceCheck {
  const earliest = heardAtTheEarliest(evidence.facts);
  if (earliest === evidence.facts) return (check, finder) => decided(check, evidence, finder);
  const other = { facts: earliest, voice: voiceMeasures(earliest) };
  return async (check, finder) => {
    const finding = await decided(check, evidence, finder);
    const { met } = await decided(check, other, finder);
    return met === finding.met ? finding : timeFinding(null, finding.detail, finding.evidence);
  };
}

const decided = (check: SoundCheckSpec, evidence: VoiceEvidence, finder: EventFinder): Finding | Promise<Finding> =>
  check.type === 'hears_keys' ? hearsKeys(check, evidence, finder) : decide(check, evidence, finder.view.entries);

type Entries = Parameters<EvaluateVoiceCheck>[1]['view']['entries'];
type PlainCheck = Exclude<SoundCheckSpec, { readonly type: 'hears_keys' }>;

function decide(check: PlainCheck, evidence: VoiceEvidence, entries: Entries): Finding {
  switch (check.type) {
    case 'yields_within_ms':
      return agentYields(check.ms, evidence, entries);
    case 'keeps_speaking':
      return agentKeepsSpeaking(evidence, entries);
    case 'max_interruptions':
      return interruptionsWithin(check.count, evidence, entries);
    case 'max_overlap_ms':
      return overlapWithin(check.ms, evidence, entries);
    case 'speaking_rate':
      return speakingRateWithin(check, evidence);
    case 'audio_level':
      return levelWithin(check, evidence, entries);
    case 'max_choppiness':
      return notChoppy(check.perMinute, evidence, entries);
    case 'clean_protocol':
      return isProtocolClean(evidence, entries);
  }
}
