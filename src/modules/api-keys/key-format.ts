import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LABEL = 'vat_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORMAT = new RegExp(`^${LABEL}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
/** Number of characters stored in clear text, to recognise the key. */
const PREFIX_LENGTH = LABEL.length + 8;

/** A new key: `vat_`, 30 random base62 characters (178 bits) and a checksum for secret scanners. */
export function generateKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return LABEL + random + checksum(random);
}

/** Whether a string has the format and checksum of a generated key. */
export function isGeneratedKey(key: string): boolean {
  if (!FORMAT.test(key)) return false;
  return checksum(key.slice(LABEL.length, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

/** Whether a string can be a key. Broader than generated keys, because an administrator can choose the first one. */
export const isAcceptableKey = (key: string): boolean => /^[\x21-\x7e]{16,255}$/.test(key);

export const keyPrefix = (key: string): string => key.slice(0, PREFIX_LENGTH);

/** The stored hash of a key. A fast, unsalted hash is enough for 178 random bits. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** CRC-32 of the random part, as six base62 digits with leading zeros. */
function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = (ALPHABET[rest % ALPHABET.length] ?? '') + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
