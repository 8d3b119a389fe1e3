import type OpenAI from 'openai';
import { type EnvironmentProxy, ProxyRefusal, through } from '../../environment-proxy/index.js';
import { retryAfterMs } from '../../text/index.js';
import type { Clock } from '../time/clock.js';
import { CallFailure, type FailureCode, type FailureDetail } from '../timeline/failure.js';
import { ErrorStatus, fetchAnswer, readCompletion, UnreadableAnswer } from './llm-response.js';
import { OtherSide, secretsOfUrl, withoutSecrets } from '../other-side/other-side.js';
import type { ModelMeter, ModelPrices } from '../measures/tester-usage.js';

/** An OpenAI-compatible chat-completions server. */
export interface LanguageModelOptions {
  readonly baseUrl: string;
  /** What failures show instead of the URL, such as the name of its setting; by default the URL without secrets. */
  readonly shownUrl?: string;
  readonly apiKey?: string;
  readonly proxy?: EnvironmentProxy | undefined;
  readonly model: string;
  /** Timeout of one attempt, including the body; 30 s by default. */
  readonly timeoutMs?: number;
  /** Without prices, the cost is unknown. */
  readonly prices?: ModelPrices;
  /** Called with the time of each request; not of one that the caller of `ask` aborts. */
  readonly onRequest?: (ms: number, outcome: 'answered' | 'failed') => void;
}

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface AskOptions {
  readonly temperature: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Adds up the usage. */
  readonly meter: ModelMeter;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const ATTEMPTS = 4;
/** Delay before the second attempt; doubled before each further one. */
const BACK_OFF_MS = 500;
/** Longest `Retry-After` to wait for; beyond it, the whole call is retried. */
const MAX_RETRY_AFTER_MS = 60_000;

type Library = typeof import('openai');
/** Loaded on first use, because it takes 0.1 s and 12 MB. */
let library: Promise<Library> | undefined;

/** The tester's own language model, which plays callers and judges criteria. */
export class LanguageModel {
  readonly model: string;
  readonly prices: ModelPrices | undefined;
  private client: OpenAI | undefined;
  private readonly timeoutMs: number;
  private readonly server: Pick<LanguageModelOptions, 'baseUrl' | 'apiKey' | 'proxy'>;
  /** How failures describe the server. */
  private readonly otherSide: OtherSide;
  private readonly onRequest: NonNullable<LanguageModelOptions['onRequest']>;
  /** Parameters that the server has refused: some models take no temperature but their default. */
  private readonly refused = new Set<string>();

  constructor(options: LanguageModelOptions) {
    const { baseUrl, shownUrl, apiKey, proxy, model, timeoutMs = DEFAULT_TIMEOUT_MS, prices, onRequest } = options;
    this.model = model;
    this.prices = prices;
    this.onRequest = onRequest ?? (() => undefined);
    this.timeoutMs = timeoutMs;
    this.server = { baseUrl, proxy, ...(apiKey !== undefined && { apiKey }) };
    const secrets = [...(apiKey === undefined ? [] : [apiKey]), ...secretsOfUrl(baseUrl)];
    this.otherSide = new OtherSide(`${shownUrl ?? withoutSecrets(baseUrl)}${through(proxy)}`, secrets);
  }

  /**
   * Returns the model's answer, possibly empty. Retries timeouts, 408, 409, 429 (after its `Retry-After`), 5xx and broken
   * connections with exponential backoff.
   * @throws CallFailure; the signal's reason
   */
  async ask(messages: readonly Message[], options: AskOptions): Promise<string> {
    const { clock, signal, meter } = options;
    library ??= import('openai');
    const openai = await clock.awaitExternal(library);
    const leftOut: string[] = [];
    for (let attempt = 1; ; attempt++) {
      const begun = clock.now();
      const parameters = this.parameters(options, leftOut);
      try {
        const answer = await clock.awaitExternal(this.attempt(openai, messages, parameters, signal));
        const ms = clock.now() - begun;
        meter.add(ms, answer.tokens);
        this.onRequest(ms, 'answered');
        return answer.text;
      } catch (error) {
        signal.throwIfAborted();
        const failed = describe(error, openai);
        const ms = clock.now() - begun;
        // Failed requests are not charged.
        meter.add(ms, { prompt: 0, completion: 0 });
        this.onRequest(ms, 'failed');
        if (isRefusal(error)) {
          // Every server has another form for that, some in a text inside JSON.
          const refused = Object.keys(parameters).find((name) =>
            new RegExp(`\\b${name}\\b`, 'i').test(error.cause.said),
          );
          if (refused !== undefined) {
            this.refused.add(refused);
            leftOut.push(refused);
            attempt--;
            continue;
          }
          // Without them it is refused, too: they were not the reason.
          for (const name of leftOut) this.refused.delete(name);
        }
        const delay = failed.detail.retryAfterMs ?? BACK_OFF_MS * 2 ** (attempt - 1);
        if (!failed.isPassing || attempt === ATTEMPTS || delay > MAX_RETRY_AFTER_MS) {
          throw new CallFailure(failed.code, this.otherSide.describe(failed.detail), { cause: error });
        }
        await clock.sleep(delay, signal);
      }
    }
  }

  /** Those of a request that it may have to leave out. */
  private parameters({ temperature }: AskOptions, leftOut: readonly string[]): Readonly<Record<string, unknown>> {
    const all = Object.entries({ temperature, stream: false });
    return Object.fromEntries(all.filter(([name]) => !this.refused.has(name) && !leftOut.includes(name)));
  }

  private async attempt(
    openai: Library,
    messages: readonly Message[],
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) {
    this.client ??= new openai.OpenAI({
      baseURL: this.server.baseUrl,
      // The library requires a key, even for servers that need none.
      apiKey: this.server.apiKey || 'none',
      organization: null,
      project: null,
      // Retried in `ask`: the library's timeout does not cover the body, and its delays do not use our clock.
      maxRetries: 0,
      fetch: (url, init) => fetchAnswer(url as string, init, this.server.proxy),
    });
    const timeout = AbortSignal.timeout(this.timeoutMs);
    try {
      const response = await this.client.chat.completions
        .create(
          { model: this.model, messages: [...messages], ...parameters },
          { signal: AbortSignal.any([signal, timeout]) },
        )
        .asResponse();
      return await readCompletion(response);
    } catch (error) {
      if (timeout.aborted) throw new openai.APIConnectionTimeoutError();
      throw error;
    }
  }
}

/** Whether the server refused what was asked. */
function isRefusal(error: unknown): error is { readonly cause: ErrorStatus } {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause instanceof ErrorStatus && (cause.status === 400 || cause.status === 422);
}

interface Failed {
  readonly code: FailureCode;
  readonly detail: Pick<FailureDetail, 'what' | 'said' | 'retryAfterMs'>;
  readonly isPassing: boolean;
}

function describe(error: unknown, { APIConnectionError, APIConnectionTimeoutError }: Library): Failed {
  if (error instanceof APIConnectionTimeoutError) return { code: 'llm_timeout', detail: {}, isPassing: true };
  if (error instanceof UnreadableAnswer) {
    return { code: 'llm_invalid_answer', detail: { said: error.said }, isPassing: !error.isTooLarge };
  }
  const cause: unknown = error instanceof APIConnectionError ? error.cause : error;
  if (cause instanceof ProxyRefusal) {
    return { code: 'llm_unreachable', detail: { what: cause.message }, isPassing: cause.status >= 500 };
  }
  if (!(cause instanceof ErrorStatus)) {
    return { code: 'llm_unreachable', detail: { what: systemCode(cause) }, isPassing: true };
  }
  const { status, said, retryAfter, redirectedTo } = cause;
  const what = `HTTP ${status}${redirectedTo === undefined ? '' : ` to ${redirectedTo}`}`;
  const detail = { what, said, retryAfterMs: retryAfterMs(retryAfter) };
  if (status === 429) return { code: 'llm_rate_limited', detail, isPassing: true };
  const isPassing = status >= 500 || status === 408 || status === 409;
  return { code: isPassing ? 'llm_status' : 'llm_refused', detail, isPassing };
}

/** The error code of the system, such as `ECONNREFUSED`, which `fetch` gives as a cause. */
function systemCode(error: unknown): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  const found = [code, cause?.code].find((value) => typeof value === 'string');
  return typeof found === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(found) ? found : undefined;
}
