import type { RecognisedPiece, VoiceFacts } from '../facts/facts.js';
import type { Transcriber } from './transcriber.js';

/** A call with the words that a recogniser understood. */
export interface HeardWords {
  readonly facts: VoiceFacts;
  /** The same audio, heard a second time; undefined if it cannot be. It is asked once. */
  readonly listenAgain: () => Promise<readonly RecognisedPiece[] | undefined>;
}

/**
 * Waits for the words of a call that is over, if a recogniser hears it.
 * @param store keeps the facts of the call, again after a second hearing
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

/** The same answer for everything that asks. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= work());
}
