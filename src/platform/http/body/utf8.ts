import { invalidInput } from '../../errors/domain-error.js';

/** Refuses invalid bytes: replaced by U+FFFD, the text would not be stored as sent. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws DomainError BAD_REQUEST */
export function decodeUtf8(bytes: Uint8Array, name = 'body'): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidInput(`${name} must be encoded in UTF-8`);
  }
}
