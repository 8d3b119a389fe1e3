import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LABEL = 'vat_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^${LABEL}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);
/** How much of a key is kept in clear so that a person recognises it. */
const PREFIX_LENGTH = LABEL.length + 8;

/** A new key: `vat_`, 30 random base62 characters (178 bits) and a checksum, by which a secret scanner tells one. */
export function generateKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return LABEL + random + checksum(random);
}

/** Whether a text is a key that this service could have made: the right form and checksum. */
export function isGeneratedKey(key: string): boolean {
  if (!FORM.test(key)) return false;
  return checksum(key.slice(LABEL.length, -CHECKSUM_LENGTH)) === key.slice(-CHECKSUM_LENGTH);
}

/** Whether a text may be a key at all. Wider than what is generated: an administrator may have chosen the first key. */
export const isAcceptableKey = (key: string): boolean => /^[\x21-\x7e]{16,255}$/.test(key);

export const keyPrefix = (key: string): string => key.slice(0, PREFIX_LENGTH);

/** What is stored of a key. A fast hash is enough: 178 random bits cannot be guessed, salted or not. */
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
