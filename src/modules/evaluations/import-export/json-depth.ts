/** Maximum number of levels of a file, more than any valid evaluation has. */
export const MAX_DEPTH = 50;

/**
 * Whether lists and objects are nested too deeply. Checked before `JSON.parse`, which takes up to 100 bytes for each open
 * level, outside the heap and so beyond the memory limit of a thread.
 */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted) {
      if (character === '\\') at++;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '[' || character === '{') {
      depth++;
      if (depth > MAX_DEPTH) return true;
    } else if (character === ']' || character === '}') depth--;
  }
  return false;
}
