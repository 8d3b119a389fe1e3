import type { VoiceFacts } from '../facts.js';
import type { VoiceMeasures } from '../results.js';

/** What a check of a call with sound is decided from. */
export interface VoiceEvidence {
  readonly facts: VoiceFacts;
  readonly voice: VoiceMeasures;
}
