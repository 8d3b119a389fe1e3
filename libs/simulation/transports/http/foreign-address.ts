import { secretsOfUrl } from '../../other-side/other-side.js';

/** Characters of an address, and secrets in it, that a platform needs: all words of a call are searched for them. */
const MAX_LENGTH = 4_096;
const MAX_SECRETS = 32;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/i;

/** An address that a platform's answer names; a secret in all but its origin. Nothing of ours is sent with it. */
export interface ForeignAddress {
  readonly url: string;
  /** What is shown of it. */
  readonly shown: string;
  readonly secrets: readonly string[];
}

/**
 * @param scheme without TLS it is taken on this machine only
 * @param what what is shown after its origin
 * @returns undefined for what is none
 */
export function foreignAddress(url: unknown, scheme: 'https' | 'wss', what: string): ForeignAddress | undefined {
  if (typeof url !== 'string' || url.length > MAX_LENGTH || !URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password, hash, host } = new URL(url);
  const isEncrypted = protocol === `${scheme}:` || (`${protocol.slice(0, -1)}s` === scheme && LOOPBACK.test(hostname));
  if (!isEncrypted || username !== '' || password !== '' || hash !== '') return undefined;
  const secrets = [...new Set(secretsOfUrl(url))];
  return secrets.length > MAX_SECRETS ? undefined : { url, shown: `${protocol}//${host}, ${what}`, secrets };
}
