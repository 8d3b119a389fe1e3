import { Redaction } from '../../../text/index.js';
import type { RecognisedPiece, VoiceFacts } from './facts.js';

/** Changed when facts of earlier versions can no longer be read. */
const VERSION = 1;

/**
 * Facts as they are stored beside a recording, without secrets.
 * @param secrets that the agent may have repeated
 * @returns undefined if its words contain a secret that is spread over several reports: none of them may be stored
 */
export function storedFacts(facts: VoiceFacts, secrets: readonly string[]): string | undefined {
  const redaction = new Redaction(secrets);
  const clean = (_key: string, value: unknown) => (typeof value === 'string' ? redaction.clean(value) : value);
  const json = JSON.stringify({ version: VERSION, facts: withCleanPieces(facts, redaction) }, clean);
  if (secrets.length === 0) return json;
  const { pieces = [], again = [] } = facts.recognised ?? {};
  const heard = [pieces, again].map((all) => all.map(({ text }) => ({ text: text ?? '' })));
  const words = [facts.said, facts.heardCaller, ...heard].map((reports) => reports.map(({ text }) => clean('', text)));
  const isClean = words.every((texts) => [' ', ''].every((between) => isWithout(redaction, texts.join(between))));
  return isClean ? json : undefined;
}

/** A secret may stand in several words of a piece: they have no times then. */
function withCleanPieces(facts: VoiceFacts, redaction: Redaction): VoiceFacts {
  const { recognised } = facts;
  if (!recognised) return facts;
  const { pieces, again } = recognised;
  const cleaned = (piece: RecognisedPiece): RecognisedPiece => {
    const { words, ...rest } = piece;
    return words && redaction.clean(piece.text ?? '') === piece.text ? piece : rest;
  };
  return {
    ...facts,
    recognised: { ...recognised, pieces: pieces.map(cleaned), ...(again && { again: again.map(cleaned) }) },
  };
}

const isWithout = (redaction: Redaction, text: string): boolean => redaction.clean(text) === text;

/** @returns undefined for facts of another version @throws SyntaxError */
export function readFacts(json: string): VoiceFacts | undefined {
  const stored = JSON.parse(json) as { readonly version: number; readonly facts: VoiceFacts };
  return stored.version === VERSION ? stored.facts : undefined;
}
