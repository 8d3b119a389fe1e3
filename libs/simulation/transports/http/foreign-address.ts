import { secretsOfUrl } from '../../other-side/other-side.js';

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
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password, hash, host } = new URL(url);
  const isEncrypted = protocol === `${scheme}:` || (`${protocol.slice(0, -1)}s` === scheme && LOOPBACK.test(hostname));
  if (!isEncrypted || username !== '' || password !== '' || hash !== '') return undefined;
  return { url, shown: `${protocol}//${host}, ${what}`, secrets: secretsOfUrl(url) };
}
