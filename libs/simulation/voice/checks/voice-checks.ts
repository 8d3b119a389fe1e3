import type { SoundCheckSpec } from '../../../evaluation-definition/index.js';
import type { Leaf } from '../../checks/kind.js';
import { timeFinding } from '../../checks/times.js';
import { heardAtTheEarliest, voiceMeasures } from '../measures/index.js';
import { FLOOR } from './floor.js';
import { KEYS } from './keys.js';
import type { Sound, Sounds, VoiceEvidence } from './kind.js';
import { SOUND } from './sound.js';

/** The evaluation of every check that needs a voice call. */
const SOUNDS: Sounds = { ...FLOOR, ...SOUND, ...KEYS };

const soundOf = ({ type }: SoundCheckSpec): Sound<SoundCheckSpec> => SOUNDS[type];

/**
 * Decides the checks that need sound, for one call. If the tester stalled, a check is undecided whose verdict depends on how
 * late the tester read the agent's messages.
 */
export function voiceChecks(evidence: VoiceEvidence): Leaf<SoundCheckSpec> {
  const earliest = heardAtTheEarliest(evidence.facts);
  const other = earliest !== evidence.facts && { facts: earliest, voice: voiceMeasures(earliest) };
  return {
    evaluate: async (check, finder) => {
      const finding = await soundOf(check).evaluate(check, evidence, finder);
      if (!other || (await soundOf(check).evaluate(check, other, finder)).met === finding.met) return finding;
      return timeFinding(null, finding.detail, finding.evidence);
    },
    couldChange: (check, finding, finder) => soundOf(check).couldChange(check, finding, finder),
  };
}
