import { createHash, randomBytes } from 'node:crypto';
import type { OutgoingRequestMessage } from 'sip.js/lib/core/index.js';
import { original } from './readable.js';

export interface DigestCredentials {
  readonly user: string;
  readonly password: string;
}

const HASHES: Record<string, string> = { MD5: 'md5', 'SHA-256': 'sha256' };

/** A challenge, as Core reads it. */
interface Challenge {
  readonly algorithm?: string;
  readonly realm: string;
  readonly nonce: string;
  readonly opaque?: string | null;
  readonly qop?: readonly string[];
}

/** Answers challenges with MD5 (RFC 3261) and SHA-256 (RFC 8760), in the place of Core's class, which knows MD5 only. */
export class DigestAnswer {
  #header = '';
  #nonce = '';
  #count = 0;

  constructor(private readonly credentials: DigestCredentials) {}

  authenticate(request: OutgoingRequestMessage, challenge: Challenge, body?: string): boolean {
    const [, session, base = ''] = /^(SESS-)?(.*)$/.exec((challenge.algorithm ?? 'MD5').toUpperCase()) ?? [];
    const name = HASHES[base];
    if (name === undefined) return false;
    const hash = (text: string): string => createHash(name).update(text).digest('hex');
    const { user, password } = this.credentials;
    const { realm, nonce, opaque } = challenge;
    this.#count = nonce === this.#nonce ? this.#count + 1 : 1;
    this.#nonce = nonce;
    const qop = challenge.qop?.includes('auth') === false ? 'auth-int' : challenge.qop && 'auth';
    const uri = original(request.ruri.toRaw());
    const count = this.#count.toString(16).padStart(8, '0');
    const own = randomBytes(12).toString('hex');
    const entity = qop === 'auth-int' ? `:${hash(body ?? bodyOf(request))}` : '';
    const about = hash(`${request.method}:${uri}${entity}`);
    const proof = qop === undefined ? `${nonce}:${about}` : `${nonce}:${count}:${own}:${qop}:${about}`;
    const secret = hash(`${user}:${realm}:${password}`);
    this.#header = [
      `Digest username=${quoted(user)}`,
      // As it came, with its escapes.
      `realm="${realm}"`,
      `nonce="${nonce}"`,
      `uri=${quoted(uri)}`,
      `response="${hash(`${session ? hash(`${secret}:${nonce}:${own}`) : secret}:${proof}`)}"`,
      `algorithm=${base}${session ? '-sess' : ''}`,
      ...(opaque ? [`opaque="${opaque}"`] : []),
      ...(qop === undefined && !session ? [] : [`cnonce="${own}"`]),
      ...(qop === undefined ? [] : [`qop=${qop}`, `nc=${count}`]),
    ].join(', ');
    return true;
  }

  toString(): string {
    return this.#header;
  }
}

function bodyOf({ body }: OutgoingRequestMessage): string {
  return typeof body === 'string' ? body : (body?.body ?? '');
}

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;

const CHALLENGE = /^(?:www|proxy)-authenticate[ \t]*:/i;
const PARAMETER = /(?<![\w-])([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Of a challenge: Core reads quoted words slowly. */
const LONGEST_CHALLENGE = 1_000;

/**
 * The answer 401 or 407 with the first challenge that can be answered, as the server prefers it, in the form that Core
 * reads. Core takes only the last one, and discards the whole message if a quoted algorithm or an odd parameter is in it.
 * Other messages have none.
 */
export function withOneChallenge(text: string): string {
  if (!/^(?:www|proxy)-authenticate[ \t]*:/im.test(text)) return text;
  const end = text.indexOf('\r\n\r\n');
  const lines = text
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  let found = !/^SIP\/2\.0 40[17] /.test(text);
  const kept = lines.flatMap((line) => {
    if (!CHALLENGE.test(line)) return [line];
    const challenge = found ? undefined : knownChallenge(line);
    found ||= challenge !== undefined;
    return challenge === undefined ? [] : [challenge];
  });
  return kept.join('\r\n') + text.slice(end);
}

function knownChallenge(line: string): string | undefined {
  const [name = '', value = ''] = line.split(/:(.*)/s);
  if (line.length > LONGEST_CHALLENGE || !/^\s*Digest\s/i.test(value)) return undefined;
  const parameters = new Map<string, string>();
  for (const [, key = '', inQuotes, bare] of value.matchAll(PARAMETER)) {
    parameters.set(key.toLowerCase(), inQuotes ?? bare ?? '');
  }
  const [algorithm, base = '', session] =
    /^(.*?)(-SESS)?$/.exec((parameters.get('algorithm') ?? 'MD5').toUpperCase()) ?? [];
  const offered =
    parameters
      .get('qop')
      ?.toLowerCase()
      .split(/[\s,]+/) ?? [];
  const qop = offered.filter((one) => one === 'auth' || one === 'auth-int');
  const unanswerable = parameters.has('qop') && qop.length === 0;
  if (!(base in HASHES) || unanswerable || !parameters.get('nonce') || !parameters.has('realm')) return undefined;
  const opaque = parameters.get('opaque');
  return [
    `${name}: Digest realm="${parameters.get('realm') ?? ''}"`,
    `nonce="${parameters.get('nonce') ?? ''}"`,
    // The grammar of Core takes what begins with MD5 for MD5.
    `algorithm=${session ? `SESS-${base}` : algorithm}`,
    ...(qop.length > 0 ? [`qop="${qop.join(',')}"`] : []),
    ...(opaque === undefined ? [] : [`opaque="${opaque}"`]),
    ...(parameters.get('stale')?.toLowerCase() === 'true' ? ['stale=true'] : []),
  ].join(', ');
}
