// Secrets as the service stores them: AES-256-GCM, bound to a row and field by the additional authenticated data.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** @param setting one key in the form of ENCRYPTION_KEYS, `id:base64(32 bytes)` */
export function encryption(setting) {
  const [keyId, encoded] = setting.split(':');
  const key = Buffer.from(encoded, 'base64');
  return {
    encrypt(clear, purpose) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
      cipher.setAAD(Buffer.from(purpose));
      const sealed = Buffer.concat([nonce, cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${keyId}.${sealed.toString('base64url')}`;
    },
    decrypt(stored, purpose) {
      const sealed = Buffer.from(stored.slice(keyId.length + 1), 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(purpose));
      decipher.setAuthTag(sealed.subarray(-16));
      return decipher.update(sealed.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}
