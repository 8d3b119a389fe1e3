const [QUOTE, BACKSLASH, LINE_FEED, CARRIAGE_RETURN] = [0x22, 0x5c, 0x0a, 0x0d];
const STRUCTURAL = new Uint8Array(256);
for (const character of '{}[],:') STRUCTURAL[character.charCodeAt(0)] = 1;

/**
 * Counts the structural characters of JSON (`{ } [ ] , :`, RFC 8259, section 2) outside strings, as its bytes arrive in parts
 * of any length. What JSON costs to parse and to keep follows from them: 8 MiB of `{},` take a second, 8 MiB of base64 none.
 */
export class StructureCounter {
  private isInString = false;
  private isEscaped = false;
  private found = 0;

  /** @returns how many there are so far */
  push(bytes: Uint8Array): number {
    let { isInString, isEscaped, found } = this;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      // No string of JSON goes on: a lone quote in a comment of an event stream must not hide what follows.
      if (byte === LINE_FEED || byte === CARRIAGE_RETURN) isInString = isEscaped = false;
      else if (!isInString) {
        if (byte === QUOTE) isInString = true;
        else found += STRUCTURAL[byte]!;
      } else if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) isInString = false;
    }
    Object.assign(this, { isInString, isEscaped, found });
    return found;
  }
}

/** Structural characters of a text of JSON. */
export const structureOf = (json: string): number => new StructureCounter().push(Buffer.from(json));
