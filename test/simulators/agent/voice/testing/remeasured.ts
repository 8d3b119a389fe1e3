import { decodeAudio, type LineRate, TELEPHONE_RATE } from '../../../../../libs/audio/index.js';
import { type EvaluationInput, normalise } from '../../../../../libs/evaluation-definition/index.js';
import { type CallResult, readFacts, recordingFormat, remeasure } from '../../../../../libs/simulation/index.js';

/** What is stored of a call. */
export interface RecordedVoiceCall {
  /** Parts of the recording. */
  readonly audio: Uint8Array[];
  facts: string;
  /** Of its line; that of the telephone without it. */
  readonly rate?: LineRate;
}

/** Judges a call of `VoiceCalls` again from what was stored of it. */
export function remeasured(
  recorded: CallResult,
  evaluation: EvaluationInput,
  { audio, facts, rate = TELEPHONE_RATE }: RecordedVoiceCall,
): Promise<CallResult> {
  const stereo = decodeAudio(recordingFormat(rate), Buffer.concat(audio));
  return remeasure({
    definition: normalise(evaluation),
    scenario: { scenarioText: evaluation.scenarioText },
    personality: { name: 'Caller' },
    recorded,
    facts: readFacts(facts)!,
    lane: { rate, pcm: stereo.filter((_, index) => index % 2 === 1) },
  });
}
