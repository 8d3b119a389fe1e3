import type { VoiceEvaluationKey } from '../agent/voice/evaluations.js';
import { type VoiceExpectation, voiceExpectationOf } from '../agent/voice/expected.js';
import type { VoiceFaultName } from '../agent/voice/voice-faults.js';

/** Others are faults of Media Streams, or of a buffer, which is not seen here. */
export const SIP_FAULTS = [
  'slow-answer',
  'interrupts-caller',
  'cuts-hesitation',
  'ignores-barge-in',
  'dead-air',
  'too-quiet',
  'clipped-sound',
  'no-clear',
  'ignores-keys',
  'hangs-up-mid-sentence',
  'never-hangs-up',
  'talks-for-a-minute',
] as const;

const PROTOCOL = 'Keeps to the protocol';

/** As over Media Streams, but for findings of its protocol, which a telephone does not have. */
export function sipExpectationOf(fault: VoiceFaultName | undefined, key: VoiceEvaluationKey): VoiceExpectation {
  const found = voiceExpectationOf(fault, key);
  if (found.outcome === 'passed') return found;
  const { fails, mayFail = [] } = found;
  return {
    ...found,
    fails: fails.filter((name) => name !== PROTOCOL),
    mayFail: mayFail.filter((name) => name !== PROTOCOL),
  };
}
