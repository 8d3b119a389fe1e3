import { type Connections, OutboundError, type OutboundResponse } from '../../../outbound-http/index.js';
import { retryAfterMs } from '../../../text/index.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../../other-side/other-side.js';
import { type SentSecrets, sentSecrets } from '../../other-side/secrets.js';
import { CallFailure, type Failure, type FailureCode } from '../../timeline/failure.js';
import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import { agentUrl, type UrlValues } from './agent-url.js';
import { codeOfStatus, OUTBOUND_CODES, systemError } from './outbound-failures.js';

/** A response of a platform that is none of the wanted ones. */
export interface Refusal {
  readonly status: number;
  readonly said: string;
  readonly retryAfterMs: number | undefined;
}

export interface PlatformRules {
  /** Hosts of the vendor: without TLS they get no key. */
  readonly vendorHost: RegExp;
  /** The headers that carry the key. */
  readonly authorization: (apiKey: string) => Readonly<Record<string, string>>;
  /** @param byStatus what the status says in general */
  readonly refused: (platform: OtherSide, refusal: Refusal, byStatus: FailureCode) => Failure;
}

interface JsonRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  /** What the platform is asked about, beside the path. */
  readonly query?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
  readonly connections?: Connections;
  readonly onPhase?: ((phase: string) => void) | undefined;
  readonly onSent?: () => void;
  /** The status and beginning of a response that has another status than 2xx, or of any other response. */
  readonly onAnswer?: (status: number, said: string) => void;
}

const TIMEOUT_MS = 15_000;
const MAX_ANSWER = 1024 * 1024;

/** The API of a platform: requests for JSON with the account's key, which is sent nowhere else. */
export class PlatformApi {
  readonly platform: OtherSide;
  readonly secrets: SentSecrets;

  constructor(
    private readonly rules: PlatformRules,
    private readonly endpoint: AgentEndpoint,
    private readonly client: AgentCall['client'],
    private readonly values: UrlValues = { assistantId: '', phoneNumber: '', callId: '' },
  ) {
    const { url, shownUrl = withoutSecrets(url), apiKey, headers } = endpoint;
    this.secrets = sentSecrets([apiKey], headers, secretsOfUrl(url));
    this.platform = new OtherSide(agentUrl(shownUrl, values), this.secrets.all);
  }

  /** @returns the JSON of a response 2xx @throws CallFailure; the signal's reason */
  async json(path: string, request: JsonRequest = {}): Promise<unknown> {
    const { status, headers, body, truncated } = await this.send(this.addressOf(path, request.query ?? {}), request);
    const said = body.toString('utf8');
    request.onAnswer?.(status, this.platform.excerpt(said));
    if (status < 200 || status >= 300) {
      const refusal = { status, said, retryAfterMs: retryAfterMs(headers['retry-after']) };
      throw new CallFailure(this.rules.refused(this.platform, refusal, codeOfStatus(status)));
    }
    if (truncated) throw new CallFailure('answer_too_large', this.platform.describe({ status }));
    try {
      return JSON.parse(said);
    } catch (cause) {
      throw this.notUnderstood('its answer is not JSON', cause);
    }
  }

  /** What it said is not shown: it may have addresses that can be called. */
  notUnderstood(what: string, cause?: unknown): CallFailure {
    return new CallFailure('bad_response', this.platform.describe({ what }), { cause });
  }

  private addressOf(path: string, query: Readonly<Record<string, string>>): string {
    const url = new URL(agentUrl(this.endpoint.url, this.values));
    if (url.protocol !== 'https:' && this.rules.vendorHost.test(url.hostname)) {
      const what = 'a key is sent to the platform over TLS only: its address must begin with https://';
      throw new CallFailure('connection_failed', this.platform.describe({ what, isPermanent: true }));
    }
    url.pathname = url.pathname.replace(/\/+$/, '') + path;
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value.toWellFormed());
    return url.href;
  }

  private async send(url: string, request: JsonRequest): Promise<OutboundResponse> {
    const { method = 'GET', body, timeoutMs = TIMEOUT_MS, maxBytes = MAX_ANSWER, signal, onPhase, onSent } = request;
    const { apiKey, headers } = this.endpoint;
    const { callId } = this.values;
    try {
      return await this.client.request({
        ...{ url, method, timeoutMs, maxBodyBytes: maxBytes },
        headers: {
          ...(body && { 'content-type': 'application/json' }),
          ...(apiKey !== undefined && this.rules.authorization(apiKey)),
          ...headers,
          ...(callId !== '' && { 'x-call-id': callId }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
        ...(request.connections && { connections: request.connections }),
        ...(onPhase && { onPhase }),
        ...(onSent && { onSent }),
      });
    } catch (cause) {
      if (!(cause instanceof OutboundError)) throw cause;
      signal?.throwIfAborted();
      const detail = this.platform.describe({ what: systemError(cause) });
      throw new CallFailure(OUTBOUND_CODES[cause.reason], detail, { cause });
    }
  }
}
