import { decodeAudio, TELEPHONE_RATE } from '../../../../../libs/audio/index.js';
import { type EvaluationInput, normalise } from '../../../../../libs/evaluation-definition/index.js';
import {
  type CallResult,
  executeImportedCall,
  type HeardPiece,
  importedFacts,
  type RecordedLane,
  recordingFormat,
  type TranscriptEntry,
} from '../../../../../libs/simulation/index.js';
import type { Recogniser } from '../../../../../libs/speech/index.js';
import type { RecordedVoiceCall } from './remeasured.js';

/** How far the edges of the caller's lines may be off, beside the result. */
export type ImportedResult = CallResult & { readonly callerEdgesMs: number };

/** Where its words come from. */
export interface ImportedWords {
  readonly hasTranscript?: boolean;
  /** Hears the agent. */
  readonly recogniser?: Recogniser;
}

/** Judges a call of `VoiceCalls` as if it had been recorded elsewhere, from its recording and the words in its transcript. */
export async function imported(
  made: CallResult,
  evaluation: EvaluationInput,
  { audio }: Pick<RecordedVoiceCall, 'audio'>,
  { hasTranscript = true, recogniser }: ImportedWords = {},
): Promise<ImportedResult> {
  const stereo = decodeAudio(recordingFormat(TELEPHONE_RATE), Buffer.concat(audio));
  const lane = (channel: number): RecordedLane => ({
    rate: TELEPHONE_RATE,
    pcm: stereo.filter((_, index) => index % 2 === channel),
  });
  const definition = normalise(evaluation);
  const pieces: HeardPiece[] = [];
  const facts = importedFacts({
    caller: lane(0),
    agent: lane(1),
    turnEndMs: definition.turnEndMs,
    ...(hasTranscript && { transcript: transcriptOf(made) }),
    ...(recogniser && { onPiece: (piece) => pieces.push(piece) }),
  });
  const result = await executeImportedCall({
    definition,
    scenario: { scenarioText: evaluation.scenarioText },
    personality: { name: 'Caller' },
    facts,
    ...(recogniser && { heard: { pieces, transcription: { recogniser, model: null } } }),
    callId: '00000000-0000-4000-8000-000000000000',
  });
  return { ...result, callerEdgesMs: facts.imported!.callerEdgesMs };
}

/** What both sides said, where it is known. */
export const transcriptOf = ({ timeline }: CallResult): TranscriptEntry[] =>
  timeline.flatMap((entry) =>
    entry.type === 'speech' && entry.text !== ''
      ? [{ speaker: entry.speaker, text: entry.text, startMs: entry.start, endMs: entry.end }]
      : [],
  );
