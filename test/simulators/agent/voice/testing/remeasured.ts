import { decodeAudio, TELEPHONE_RATE } from '../../../../../libs/audio/index.js';
import { type EvaluationInput, normalise } from '../../../../../libs/evaluation-definition/index.js';
import { type CallResult, readFacts, recordingFormat, remeasure } from '../../../../../libs/simulation/index.js';

/** What is stored of a call over the telephone. */
export interface RecordedVoiceCall {
  /** Parts of the recording. */
  readonly audio: Uint8Array[];
  facts: string;
}

/** Judges a call of `VoiceCalls` again from what was stored of it. */
export function remeasured(
  recorded: CallResult,
  evaluation: EvaluationInput,
  { audio, facts }: RecordedVoiceCall,
): Promise<CallResult> {
  const stereo = decodeAudio(recordingFormat(TELEPHONE_RATE), Buffer.concat(audio));
  return remeasure({
    definition: normalise(evaluation),
    scenario: { scenarioText: evaluation.scenarioText },
    personality: { name: 'Caller' },
    recorded,
    facts: readFacts(facts)!,
    lane: { rate: TELEPHONE_RATE, pcm: stereo.filter((_, index) => index % 2 === 1) },
  });
}
