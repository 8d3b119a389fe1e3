import { DEFAULT_LANGUAGE } from '../../evaluation-definition/index.js';
import { RealClock } from '../time/clock.js';
import { heardWords } from '../voice/conversation/heard-words.js';
import { FINAL_MS, Transcriber, type VoiceTranscription } from '../voice/conversation/transcriber.js';
import type { HeardPiece } from '../voice/facts/heard-piece.js';
import { storedFacts } from '../voice/facts/stored-facts.js';
import type { RecordedCall, RecordingSink } from '../voice/wire/voice-transport.js';
import { type ReportedCall, withReported } from '../voice/imported/reported.js';
import type { TranscribedCall } from '../voice/conversation/transcribed.js';
import { type CallOptions, type CallResult, executeCall } from './call.js';

type JudgingOptions = Omit<CallOptions, 'transport' | 'voice' | 'judged' | 'onAborted' | 'patienceMs'> & {
  /** UUID of the attempt, under which the recording is stored. */
  readonly callId: string;
  /** What was reported of the call beside its sound and its words. */
  readonly reported?: ReportedCall;
};

export type ImportedCallOptions = JudgingOptions &
  Pick<RecordedCall, 'facts'> & {
    /** What a recogniser transcribes, where the agent's words are not known. */
    readonly heard?: {
      /** From `importedFacts`. */
      readonly pieces: readonly HeardPiece[];
      readonly transcription: Pick<VoiceTranscription, 'recogniser' | 'model'>;
    };
    /** Takes the facts with all that became known of the call. */
    readonly recording?: Required<Pick<RecordingSink, 'facts'>>;
  };

/** Name of what brought a call that was recorded elsewhere, in place of a transport. */
export const RECORDING = 'recording';

/**
 * The result of a call that was recorded elsewhere, by the same definitions as of a call of the service. What a recording
 * does not show is null or undecided.
 * @param facts from `importedFacts`
 * @throws the signal's reason
 */
export async function executeImportedCall(options: ImportedCallOptions): Promise<CallResult> {
  const { facts: observed, callId, heard, recording, reported, ...call } = options;
  const transcriber = heard && transcriberOf(heard, options);
  const { facts, listenAgain } = await heardWords(withReported(observed, reported ?? {}), transcriber, (all) => {
    const json = recording && storedFacts(all, []);
    if (json !== undefined) recording?.facts(json);
  });
  return executeCall({
    ...call,
    transport: {
      ...{ name: RECORDING, clock: 'recorded', facts, listenAgain },
      exchange: exchangeOf(callId),
    },
  });
}

/** The same for a call of which there is only a transcript. @param transcript what both sides said */
export function executeTranscribedCall({
  callId,
  transcript,
  reported = {},
  ...call
}: JudgingOptions & Pick<TranscribedCall, 'transcript'>): Promise<CallResult> {
  const exchange = exchangeOf(callId);
  return executeCall({ ...call, transport: { name: RECORDING, transcript, reported, exchange } });
}

const exchangeOf = (callId: string) => ({
  ...{ protocol: RECORDING, url: '', callId, requests: [], omittedRequests: 0 },
});

function transcriberOf(
  { pieces, transcription: { recogniser, model } }: NonNullable<ImportedCallOptions['heard']>,
  {
    facts,
    callId: owner,
    scenario,
    clock = new RealClock(),
    signal = new AbortController().signal,
  }: ImportedCallOptions,
): Transcriber {
  const language = scenario.language ?? DEFAULT_LANGUAGE;
  // The server had the time of the call, too, if it had been transcribed while it went on.
  const finalMs = facts.end.atMs + FINAL_MS;
  const transcriber = new Transcriber({ recogniser, model, language, owner, clock, signal, finalMs });
  for (const piece of pieces) transcriber.hear(piece);
  return transcriber;
}
