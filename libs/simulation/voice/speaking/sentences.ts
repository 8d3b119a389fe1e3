/** A shorter piece, such as "Yes." or "Mr.", is spoken with the next one. */
const MIN_CHARACTERS = 12;

/** The sentences of a line, each long enough to be spoken by itself. */
export function sentencesOf(line: string): string[] {
  const sentences: string[] = [];
  let piece = '';
  for (const part of line.trim().split(/(?<=[.!?])\s+/)) {
    piece = piece === '' ? part : `${piece} ${part}`;
    if (piece.length < MIN_CHARACTERS) continue;
    sentences.push(piece);
    piece = '';
  }
  if (piece === '') return sentences;
  const last = sentences.pop();
  return [...sentences, last === undefined ? piece : `${last} ${piece}`];
}
