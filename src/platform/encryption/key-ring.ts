import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { EncryptionKeySetting } from '../config/settings.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The stored form; a nonce and a tag alone are 38 characters of base64url. */
const STORED = /^[A-Za-z0-9_-]{1,32}\.[A-Za-z0-9_-]{38,}$/;

/** A stored secret that no configured key decrypts, or that was moved or changed. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/**
 * Secrets at rest: AES-256-GCM (NIST SP 800-38D) under a ring of keys. The first key encrypts, all decrypt, so a key
 * is rotated by putting a new one first and re-encrypting.
 *
 * Stored form: `keyId.base64url(nonce ‖ ciphertext ‖ tag)`. The purpose, for instance `agent.apiKey:<row id>`, is
 * authenticated with it: a ciphertext copied to another row or column does not decrypt.
 */
export class KeyRing {
  private readonly keys: ReadonlyMap<string, KeyObject>;
  private readonly first: { readonly id: string; readonly key: KeyObject };

  constructor(keys: readonly EncryptionKeySetting[]) {
    // Key objects, because bytes would be copied for every secret.
    const objects = keys.map(({ id, key }) => ({ id, key: createSecretKey(key) }));
    const [first] = objects;
    if (!first) throw new Error('A key ring needs at least one key');
    this.first = first;
    this.keys = new Map(objects.map(({ id, key }) => [id, key]));
  }

  encrypt(clear: string, purpose: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.first.key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([nonce, cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${this.first.id}.${sealed.toString('base64url')}`;
  }

  /** @throws DecryptionError */
  decrypt(stored: string, purpose: string): string {
    // The value is not repeated: if it is not encrypted, it may be a secret in clear text.
    if (!STORED.test(stored)) throw new DecryptionError(`A stored secret is not in its encrypted form (${purpose})`);
    const dot = stored.indexOf('.');
    const keyId = stored.slice(0, dot);
    const key = this.keys.get(keyId);
    if (!key) throw new DecryptionError(`No encryption key with the id "${keyId}" is configured`);
    const sealed = Buffer.from(stored.slice(dot + 1), 'base64url');
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(purpose));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const clear = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      // Returns no more text, but verifies the tag.
      decipher.final();
      return clear.toString('utf8');
    } catch (cause) {
      throw new DecryptionError(`The key "${keyId}" does not decrypt a stored secret (${purpose})`, { cause });
    }
  }

  /** The ids of the keys; the first one encrypts. */
  get ids(): readonly string[] {
    return [...this.keys.keys()];
  }
}
