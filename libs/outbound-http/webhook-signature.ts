import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** A new signing secret in the format of the Standard Webhooks specification. */
export const generateSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/**
 * The `webhook-signature` header: one signature per secret, separated by spaces (Standard Webhooks 1.0.0).
 * @param secrets `whsec_…`, or any other string, whose UTF-8 bytes are the key
 */
export function sign(secrets: readonly string[], id: string, timestamp: Date, body: string): string {
  return secrets.map((secret) => signer(secret).sign(id, timestamp, body)).join(' ');
}

function signer(secret: string): Webhook {
  if (/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) {
    try {
      return new Webhook(secret);
    } catch {
      // Looks like base64 but is not valid: used as a plain string.
    }
  }
  return new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
}
