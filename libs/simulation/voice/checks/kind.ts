import type { OfType, SoundCheckSpec } from '../../../evaluation-definition/index.js';
import type { Finding } from '../../checks/check-result.js';
import type { Leaf } from '../../checks/kind.js';
import type { EventFinder } from '../../checks/occurrences.js';
import type { VoiceFacts } from '../facts/facts.js';
import type { VoiceMeasures } from '../facts/results.js';

/** What a check of a voice call is decided from. */
export interface VoiceEvidence {
  readonly facts: VoiceFacts;
  readonly voice: VoiceMeasures;
}

/** How a check that needs a voice call is evaluated. */
export interface Sound<S> extends Pick<Leaf<S>, 'couldChange'> {
  evaluate(check: S, evidence: VoiceEvidence, finder: EventFinder): Finding | Promise<Finding>;
}

export type Sounds = { readonly [T in SoundCheckSpec['type']]: Sound<OfType<T>> };
