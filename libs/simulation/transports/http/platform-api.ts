import {
  type Connections,
  OutboundError,
  type OutboundRequest,
  type OutboundStream,
  readBody,
} from '../../../outbound-http/index.js';
import { retryAfterMs } from '../../../text/index.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../other-side/other-side.js';
import { READ_LIMITS, ReadCount, type ReadLimit } from '../../other-side/read-limits.js';
import { type SentSecrets, sentSecrets } from '../../other-side/secrets.js';
import { CallFailure, type FailureCode } from '../../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { PlatformAccount } from '../modules/assistants.js';
import { agentUrl } from './agent-url.js';
import { codeOfPlatform, OUTBOUND_CODES, systemError } from './outbound-failures.js';
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
  /** Of the response. */
  readonly limit?: ReadLimit;
  /** What it is that the response breaks off; by default that the connection failed. */
  readonly brokenOff?: FailureCode;
  readonly signal?: AbortSignal | undefined;
  readonly connections?: Connections;
  readonly onStep?: ((step: string) => void) | undefined;
  readonly onSent?: () => void;
  /** The status of the response, and its beginning if that is none of 2xx. */
  readonly onAnswer?: (status: number, said: string | undefined) => void;
}

const TIMEOUT_MS = 15_000;
/** Of a response that is an error. */
const MAX_ERROR = 64 * 1024;

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
      throw this.notUnderstood('its answer is not JSON', cause);
    }
  }

  /** @returns the body of a response 2xx @throws CallFailure; the signal's reason */
  async text(path: string, request: ApiRequest): Promise<string> {
    const { body, close, ...response } = await this.asked(
      this.account.client.open(this.outgoing(path, request)),
      request,
    );
    const { limit = READ_LIMITS.answer } = request;
    const reading = isSuccess(response) ? this.read(body, limit) : readBody(body, MAX_ERROR).then((read) => read.body);
    const said = (await this.asked(reading.finally(close), request, request.brokenOff)).toString('utf8');
    this.accept(response, said, request);
    return said;
  }

  /** @returns where a response 3xx leads @throws CallFailure for another one; the signal's reason */
  async location(path: string, request: ApiRequest): Promise<string | undefined> {
    const { status, headers, body, close } = await this.asked(
      this.account.client.open(this.outgoing(path, request)),
      request,
    );
    const read = await this.asked(readBody(body, MAX_ERROR).finally(close), request);
    if (status >= 300 && status < 400) return headers['location'];
    this.accept({ status, headers }, read.body.toString('utf8'), request);
    throw this.notUnderstood(`it answered HTTP ${status} where it leads to another address`);
  }

  /** Counts what arrives, so that not everything is kept of what is too large. */
  private async read(body: AsyncIterable<Buffer>, limit: ReadLimit): Promise<Buffer> {
    const count = new ReadCount(limit);
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      const exceeded = count.push(chunk);
      if (exceeded !== undefined) throw this.failure('answer_too_large', { what: exceeded });
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  failure(code: FailureCode, detail: Parameters<OtherSide['describe']>[0]): CallFailure {
    return new CallFailure(code, this.platform.describe(detail));
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

  /** @throws CallFailure for another status than 2xx */
  private accept({ status, headers }: ResponseHead, said: string, request: ApiRequest): void {
    const isRefused = !isSuccess({ status });
    request.onAnswer?.(status, isRefused ? this.platform.excerpt(said) : undefined);
    if (!isRefused) return;
    const refusal = { status, said, retryAfterMs: retryAfterMs(headers['retry-after']) };
    throw new CallFailure(this.rules.refused(this.platform, refusal, codeOfPlatform(status)));
  }

  /** @param brokenOff what a connection that fails is @throws CallFailure; the signal's reason */
  private async asked<T>(work: Promise<T>, { signal }: ApiRequest, brokenOff?: FailureCode): Promise<T> {
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

type ResponseHead = Pick<OutboundStream, 'status' | 'headers'>;

const isSuccess = ({ status }: Pick<ResponseHead, 'status'>): boolean => status >= 200 && status < 300;
