import type { RecognisedPiece, VoiceFacts } from '../facts/facts.js';
import type { Transcriber } from './transcriber.js';

/** A call with the words of a recogniser. */
export interface HeardWords {
  readonly facts: VoiceFacts;
  /** Hears the same audio a second time, at most once; undefined if that is impossible. */
  readonly listenAgain: () => Promise<readonly RecognisedPiece[] | undefined>;
}

/**
 * Waits for the words of a call that is over, if a recogniser transcribes it.
 * @param store stores the facts of the call, again after a second hearing
 * @throws the transcriber's reason
 */
export async function heardWords(
  observed: VoiceFacts,
  transcriber: Transcriber | undefined,
  store: (facts: VoiceFacts) => void,
): Promise<HeardWords> {
  const recognised = await transcriber?.final();
  const facts = recognised ? { ...observed, recognised } : observed;
  store(facts);
  const listenAgain = once(async () => {
    const again = await transcriber?.hearAgain(facts.agent);
    if (recognised && again) store({ ...facts, recognised: { ...recognised, again } });
    return again;
  });
  return { facts, listenAgain };
}

/** Calls a function once, and returns its result every time. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}
