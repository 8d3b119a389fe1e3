import { type Connections, OutboundError } from '../../../../outbound-http/index.js';
import { retryAfterMs } from '../../../../text/index.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../../other-side/secrets.js';
import { CallFailure, type Failure, type FailureCode } from '../../../timeline/failure.js';
import { codeOfStatus, OUTBOUND_CODES, systemError } from '../../http/outbound-failures.js';
import type { PlatformAccount } from '../../modules/assistants.js';

const VENDOR_HOST = /(^|\.)retellai\.com\.?$/i;
const KEY = 'check the apiKey of the agent, and what it may do';
const AGENT = 'check the assistantId of the agent, and that the apiKey is of the same workspace of Retell';
/** What to do about a refusal, by its status. */
const CURES: Readonly<Record<number, string>> = {
  400: 'check the version that the run asks for, and the dynamic variables',
  401: KEY,
  402: 'check the credit and the plan of the account',
  403: KEY,
  404: AGENT,
  422: AGENT,
  429: 'wait, or raise the limit of the account on calls at once',
};

interface ApiAccount extends Omit<PlatformAccount, 'apiKey'> {
  readonly apiKey?: string | undefined;
  /** Those of the connection; secret. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly connections?: Connections;
  readonly signal?: AbortSignal;
  readonly onPhase?: ((step: 'resolved' | 'connected' | 'secured') => void) | undefined;
  readonly onSent?: () => void;
  /** The response has arrived; called before it is judged. */
  readonly onResponse?: (status: number, said: string) => void;
}

export type Json = Readonly<Record<string, unknown>>;

/** The API of Retell, to which the key of an account is sent. */
export class RetellApi {
  readonly platform: OtherSide;
  readonly secrets: SentSecrets;

  constructor(private readonly account: ApiAccount) {
    const { url, shownUrl = withoutSecrets(url), apiKey, headers = {} } = account;
    this.secrets = sentSecrets([apiKey], headers, secretsOfUrl(url));
    this.platform = new OtherSide(shownUrl, this.secrets.all);
  }

  /** @returns the object of a successful response. @throws CallFailure; the signal's reason */
  async send({ path, query = {}, maxBytes, onResponse, ...request }: ApiRequest): Promise<Json> {
    const { client, apiKey, headers } = this.account;
    const url = new URL(this.account.url);
    if (url.protocol !== 'https:' && VENDOR_HOST.test(url.hostname)) {
      const what = 'a key is sent to the platform over TLS only: its address must begin with https://';
      throw this.failure('connection_failed', { what, isPermanent: true });
    }
    url.pathname = url.pathname.replace(/\/+$/, '') + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const sent = {
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...headers,
      ...request.headers,
    };
    const { onPhase, ...options } = request;
    const asked = { ...options, url: url.href, headers: sent, ...(onPhase && { onPhase }) };
    const { status, headers: answered, body, close } = await this.failing(client.open(asked), request.signal);
    const { said, isCut } = await this.failing(readUpTo(body, maxBytes), request.signal, 'stream_cut').finally(close);
    onResponse?.(status, said);
    if (status >= 200 && status < 300) return this.parsed(said, isCut);
    const cure = CURES[status];
    const code = cure === undefined || status === 429 ? codeOfStatus(status) : 'platform_refused';
    const what = cure === undefined ? `HTTP ${status}` : `HTTP ${status}, ${cure}`;
    throw this.failure(code, { what, status, said, retryAfterMs: retryAfterMs(answered['retry-after']) });
  }

  /** @param cut what a connection that broke off is */
  private async failing<T>(work: Promise<T>, signal?: AbortSignal, cut?: FailureCode): Promise<T> {
    return work.catch((cause: unknown) => {
      if (!(cause instanceof OutboundError)) throw cause;
      signal?.throwIfAborted();
      const code = (cause.reason === 'CONNECTION_FAILED' ? cut : undefined) ?? OUTBOUND_CODES[cause.reason];
      throw this.failure(code, { what: systemError(cause) }, cause);
    });
  }

  private parsed(said: string, isCut: boolean): Json {
    if (isCut) throw this.failure('answer_too_large', {});
    try {
      const value = JSON.parse(said) as unknown;
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
    } catch {
      // Described below.
    }
    throw this.failure('bad_response', { what: 'its answer is not a JSON object', said });
  }

  failure(code: FailureCode, detail: Parameters<OtherSide['describe']>[0], cause?: unknown): CallFailure {
    return new CallFailure(code, this.platform.describe(detail), { cause });
  }
}

async function readUpTo(body: AsyncIterable<Buffer>, maxBytes: number): Promise<{ said: string; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return { said: Buffer.concat(chunks).toString('utf8', 0, maxBytes), isCut: length > maxBytes };
}

/** Advice for a connection test. */
export function cureOf({ status = 0, code }: Failure): string | undefined {
  const cure = CURES[status] ?? (code === 'platform_busy' ? CURES[429] : undefined);
  return cure && `${cure[0]!.toUpperCase()}${cure.slice(1)}.`;
}

export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
