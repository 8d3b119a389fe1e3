import type { VoiceFacts } from '../facts/facts.js';
import type { VoiceMeasures } from '../facts/results.js';

/** What a check of a voice call is decided from. */
export interface VoiceEvidence {
  readonly facts: VoiceFacts;
  readonly voice: VoiceMeasures;
}
