import type { SoundCheckSpec } from '../../../evaluation-definition/index.js';
import type { Finding } from '../../checks/check-result.js';
import type { EvaluateVoiceCheck } from '../../checks/evaluate-checks.js';
import type { VoiceEvidence } from './evidence.js';
import { agentKeepsSpeaking, agentYields, interruptionsWithin, overlapWithin } from './floor.js';
import { hearsKeys } from './keys.js';
import { isProtocolClean, levelWithin, notChoppy, speakingRateWithin } from './sound.js';

/** Decides the checks that need sound, for one call. */
export const voiceChecks =
  (evidence: VoiceEvidence): EvaluateVoiceCheck =>
  (check, finder) =>
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
      return levelWithin(check, evidence);
    case 'max_choppiness':
      return notChoppy(check.perMinute, evidence);
    case 'clean_protocol':
      return isProtocolClean(evidence, entries);
  }
}
