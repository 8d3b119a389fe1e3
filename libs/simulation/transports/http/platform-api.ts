import {
  type Connections,
  OutboundError,
  type OutboundRequest,
  type OutboundStream,
} from '../../../outbound-http/index.js';
import { retryAfterMs } from '../../../text/index.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../other-side/secrets.js';
import { CallFailure, type FailureCode } from '../../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { PlatformAccount } from '../modules/assistants.js';
import { agentUrl } from './agent-url.js';
import { codeOfStatus, OUTBOUND_CODES, systemError } from './outbound-failures.js';
import type { PlatformRules } from './platform-rules.js';

export interface ApiAccount extends Omit<PlatformAccount, 'apiKey'> {
  readonly apiKey?: string | undefined;
  /** Those of the connection; secret. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiRequest {
  readonly method?: 'GET' | 'POST';
  /** JSON as text, or what becomes it. */
  readonly body?: object | string;
  /** What the platform is asked about, beside the path. */
  readonly query?: Readonly<Record<string, string>>;
  /** Beside those of the account; no secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
  readonly connections?: Connections;
  readonly onStep?: ((step: string) => void) | undefined;
  readonly onSent?: () => void;
  /** The status of the response, and its beginning if that is none of 2xx. */
  readonly onAnswer?: (status: number, said: string | undefined) => void;
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER = 1024 * 1024;

/** The API of a platform: requests for JSON with the account's key, which is sent nowhere else. */
export class PlatformApi {
  readonly platform: OtherSide;
  readonly secrets: SentSecrets;

  /** @param urlSecrets what must not be shown of the address */
  constructor(
    private readonly rules: PlatformRules,
    private readonly account: ApiAccount,
    urlSecrets: readonly string[] = secretsOfUrl(account.url),
  ) {
    const { url, shownUrl = withoutSecrets(url), apiKey, headers = {} } = account;
    this.secrets = sentSecrets([apiKey], headers, urlSecrets);
    this.platform = new OtherSide(shownUrl, this.secrets.all);
  }

  /** For one call of an agent. */
  static ofCall(rules: PlatformRules, endpoint: AgentEndpoint, call: AgentCall): PlatformApi {
    const { url, shownUrl = withoutSecrets(url), headers, apiKey } = endpoint;
    const [base, shown] = [agentUrl(url, call), agentUrl(shownUrl, call)];
    const account = { client: call.client, url: base, shownUrl: shown, apiKey, headers };
    return new PlatformApi(rules, account, secretsOfUrl(url));
  }

  /** @returns the JSON of a response 2xx @throws CallFailure; the signal's reason */
  async json(path: string, request: ApiRequest = {}): Promise<unknown> {
    const said = await this.text(path, request);
    try {
      return JSON.parse(said);
    } catch (cause) {
      throw this.notUnderstood('its answer is not JSON, or too long', cause);
    }
  }

  /** @returns the body of a response 2xx, up to `maxBytes` @throws CallFailure; the signal's reason */
  async text(path: string, request: ApiRequest): Promise<string> {
    const { client } = this.account;
    const sent = { ...this.outgoing(path, request), maxBodyBytes: request.maxBytes ?? MAX_ANSWER };
    const { body, ...response } = await this.asked(client.request(sent), request);
    const said = body.toString('utf8');
    this.accept(response, said, request);
    return said;
  }

  /** What it said is not shown: it may have addresses that can be called. */
  notUnderstood(what: string, cause?: unknown): CallFailure {
    return new CallFailure('bad_response', this.platform.describe({ what }), { cause });
  }

  private addressOf(path: string, query: Readonly<Record<string, string>>): string {
    const url = new URL(this.account.url);
    if (url.protocol !== 'https:' && this.rules.vendorHost.test(url.hostname)) {
      const what = 'a key is sent to the platform over TLS only: its address must begin with https://';
      throw new CallFailure('connection_failed', this.platform.describe({ what, isPermanent: true }));
    }
    url.pathname = url.pathname.replace(/\/+$/, '') + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value.toWellFormed());
    return url.href;
  }

  /** Opens a request, for what is read of its response in another way. @throws CallFailure; the signal's reason */
  protected open(path: string, request: ApiRequest): Promise<OutboundStream> {
    return this.asked(this.account.client.open(this.outgoing(path, request)), request);
  }

  /** @throws CallFailure for another status than 2xx */
  protected accept({ status, headers }: Pick<OutboundStream, 'status' | 'headers'>, said: string, request: ApiRequest) {
    const isRefused = status < 200 || status >= 300;
    request.onAnswer?.(status, isRefused ? this.platform.excerpt(said) : undefined);
    if (!isRefused) return;
    const refusal = { status, said, retryAfterMs: retryAfterMs(headers['retry-after']) };
    throw new CallFailure(this.rules.refused(this.platform, refusal, codeOfStatus(status)));
  }

  /** @param brokenOff what a connection that fails is @throws CallFailure; the signal's reason */
  protected async asked<T>(work: Promise<T>, { signal }: ApiRequest, brokenOff?: FailureCode): Promise<T> {
    return work.catch((cause: unknown) => {
      if (!(cause instanceof OutboundError)) throw cause;
      signal?.throwIfAborted();
      const code = (cause.reason === 'CONNECTION_FAILED' ? brokenOff : undefined) ?? OUTBOUND_CODES[cause.reason];
      throw new CallFailure(code, this.platform.describe({ what: systemError(cause) }), { cause });
    });
  }

  private outgoing(path: string, request: ApiRequest): OutboundRequest {
    const { method = 'GET', query = {}, body, timeoutMs = TIMEOUT_MS, signal, onStep, onSent } = request;
    const { apiKey, headers } = this.account;
    return {
      ...{ url: this.addressOf(path, query), method, timeoutMs },
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(apiKey !== undefined && this.rules.authorization(apiKey)),
        ...headers,
        ...request.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(request.connections && { connections: request.connections }),
      ...(onStep && { onPhase: onStep }),
      ...(onSent && { onSent }),
    };
  }
}
