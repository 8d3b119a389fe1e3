const MAX_NAME_LENGTH = 100;

/** Number of Unicode code points, which is what JSON Schema and PostgreSQL count. */
export function codePoints(text: string): number {
  let surrogatePairs = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) surrogatePairs++;
  }
  return text.length - surrogatePairs;
}

/** Why a string cannot be stored and returned unchanged, as the rest of a sentence about it; or undefined. */
export function textViolation(text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain the character U+0000';
  if (!text.isWellFormed()) return 'must not contain an unpaired surrogate';
  return undefined;
}

/** A field name from a client, fit for a response: short, well-formed and never blank. */
export function shownName(name: string): string {
  if (name.length <= MAX_NAME_LENGTH && name.trim() === '') return `"${name}"`;
  const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
  return short.toWellFormed().replaceAll('\u0000', '\uFFFD');
}
