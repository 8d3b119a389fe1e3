import { DEFAULT_LANGUAGE } from '../../evaluation-definition/index.js';
import { RealClock } from '../time/clock.js';
import { heardWords } from '../voice/conversation/heard-words.js';
import { FINAL_MS, Transcriber, type VoiceTranscription } from '../voice/conversation/transcriber.js';
import type { HeardPiece } from '../voice/facts/heard-piece.js';
import { storedFacts } from '../voice/facts/stored-facts.js';
import type { RecordedCall, RecordingSink } from '../voice/wire/voice-transport.js';
import { type CallOptions, type CallResult, executeCall } from './call.js';

export type ImportedCallOptions = Omit<CallOptions, 'transport' | 'voice' | 'judged' | 'onAborted' | 'patienceMs'> &
  Pick<RecordedCall, 'facts'> & {
    /** UUID of the attempt, under which the recording is stored. */
    readonly callId: string;
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
  const { facts: observed, callId, heard, recording, ...call } = options;
  const transcriber = heard && transcriberOf(heard, options);
  const { facts, listenAgain } = await heardWords(observed, transcriber, (all) => {
    const json = recording && storedFacts(all, []);
    if (json !== undefined) recording?.facts(json);
  });
  return executeCall({
    ...call,
    transport: {
      ...{ name: RECORDING, clock: 'recorded', facts, listenAgain },
      exchange: { protocol: RECORDING, url: '', callId, requests: [], omittedRequests: 0 },
    },
  });
}

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
