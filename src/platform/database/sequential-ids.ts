import { randomBytes } from 'node:crypto';

/**
 * Identifiers that sort in the order of their creation (UUID version 7 with a counter, RFC 9562): rows written at the same
 * moment keep the order of their file.
 * @param count at most 2^20
 */
export function sequentialIds(count: number): string[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => {
    const bytes = randomBytes(16);
    bytes.writeUIntBE(now, 0, 6);
    bytes[6] = 0x70 | (index >> 16);
    bytes[7] = (index >> 8) & 0xff;
    bytes[8] = 0x80;
    bytes[9] = index & 0xff;
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  });
}
