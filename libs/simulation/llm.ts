import type OpenAI from 'openai';
import type { Clock } from './clock.js';
import { CallFailure, type FailureCode } from './failure.js';
import type { ModelMeter, ModelPrices } from './tester-usage.js';

/** An OpenAI-compatible chat-completions server. */
export interface LanguageModelOptions {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly model: string;
  /** Timeout of one attempt, including the body; 30 s by default. */
  readonly timeoutMs?: number;
  /** Without prices, the cost is unknown. */
  readonly prices?: ModelPrices;
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
/** Bytes of one answer. */
const MAX_ANSWER = 1024 * 1024;

type Library = typeof import('openai');
/** Loaded on first use, because it takes 0.1 s and 12 MB. */
let library: Promise<Library> | undefined;

/** The tester's own language model, which plays callers and judges criteria. */
export class LanguageModel {
  readonly model: string;
  readonly prices: ModelPrices | undefined;
  private client: OpenAI | undefined;
  private readonly timeoutMs: number;
  private readonly server: Pick<LanguageModelOptions, 'baseUrl' | 'apiKey'>;
  /** Some models reject any temperature but their default. */
  private hasTemperature = true;

  constructor({ baseUrl, apiKey, model, timeoutMs = DEFAULT_TIMEOUT_MS, prices }: LanguageModelOptions) {
    this.model = model;
    this.prices = prices;
    this.timeoutMs = timeoutMs;
    this.server = { baseUrl, ...(apiKey !== undefined && { apiKey }) };
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
    for (let attempt = 1; ; attempt++) {
      const begun = clock.now();
      try {
        const answer = await clock.awaitExternal(this.attempt(openai, messages, options));
        meter.add(clock.now() - begun, answer.tokens);
        return answer.text;
      } catch (error) {
        signal.throwIfAborted();
        const failed = describe(error, openai);
        // Failed requests are not charged.
        meter.add(clock.now() - begun, { prompt: 0, completion: 0 });
        if (this.dropTemperature(error, openai)) continue;
        const delay = failed.retryAfterMs ?? BACK_OFF_MS * 2 ** (attempt - 1);
        if (!failed.isPassing || attempt === ATTEMPTS || delay > MAX_RETRY_AFTER_MS) {
          throw new CallFailure(failed.code, failed.detail, { cause: error });
        }
        await clock.sleep(delay, signal);
      }
    }
  }

  private async attempt(openai: Library, messages: readonly Message[], { temperature, signal }: AskOptions) {
    this.client ??= new openai.OpenAI({
      baseURL: this.server.baseUrl,
      // The library requires a key, even for servers that need none.
      apiKey: this.server.apiKey || 'none',
      organization: null,
      project: null,
      // Retried in `ask`: the library's timeout does not cover the body, and its delays do not use our clock.
      maxRetries: 0,
      fetch: boundedFetch,
    });
    const timeout = AbortSignal.timeout(this.timeoutMs);
    try {
      const completion = await this.client.chat.completions.create(
        { model: this.model, messages: [...messages], ...(this.hasTemperature && { temperature }) },
        { signal: AbortSignal.any([signal, timeout]) },
      );
      return readCompletion(completion);
    } catch (error) {
      if (timeout.aborted) throw new openai.APIConnectionTimeoutError();
      throw error;
    }
  }

  /** @returns whether the request may be sent again without the temperature */
  private dropTemperature(error: unknown, { APIError }: Library): boolean {
    const isRefused = error instanceof APIError && error.status === 400 && /temperature/i.test(error.message);
    if (!isRefused || !this.hasTemperature) return false;
    this.hasTemperature = false;
    return true;
  }
}

/** The library does not validate what the server sends. */
function readCompletion(completion: unknown) {
  const { choices, usage } = (completion ?? {}) as { choices?: unknown; usage?: Record<string, unknown> | null };
  if (!Array.isArray(choices)) throw new UnreadableAnswer();
  const choice = (choices as ({ message?: { content?: unknown } } | null)[])[0];
  const content = choice?.message?.content;
  return { text: typeof content === 'string' ? content : '', tokens: readUsage(usage) };
}

function readUsage(usage: Record<string, unknown> | null | undefined) {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage ?? {};
  const isCount = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0;
  return isCount(prompt) && isCount(completion) ? { prompt, completion } : undefined;
}

class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

interface Failed {
  readonly code: FailureCode;
  readonly detail?: string;
  readonly isPassing: boolean;
  readonly retryAfterMs?: number | undefined;
}

function describe(error: unknown, { APIConnectionError, APIConnectionTimeoutError, APIError }: Library): Failed {
  if (error instanceof APIConnectionTimeoutError) return { code: 'llm_timeout', isPassing: true };
  if (error instanceof APIConnectionError) return { code: 'llm_unreachable', isPassing: true };
  if (error instanceof APIError && typeof error.status === 'number') {
    const status: number = error.status;
    const detail = `HTTP ${status}`;
    const retryAfterMs = retryAfter(error.headers as Headers | undefined);
    if (status === 429) return { code: 'llm_rate_limited', detail, isPassing: true, retryAfterMs };
    if (status >= 500 || status === 408 || status === 409) {
      return { code: 'llm_status', detail, isPassing: true, retryAfterMs };
    }
    return { code: 'llm_refused', detail, isPassing: false };
  }
  // Invalid JSON and broken bodies surface as errors of the runtime.
  const isContent = error instanceof UnreadableAnswer || isSyntaxError(error) || error instanceof AnswerTooLarge;
  return isContent
    ? { code: 'llm_invalid_answer', isPassing: !(error instanceof AnswerTooLarge) }
    : { code: 'llm_unreachable', isPassing: true };
}

/** Compared by name, because errors of Node's `fetch` may come from another realm. */
const isSyntaxError = (error: unknown): boolean => (error as Error | undefined)?.name === 'SyntaxError';

/** Milliseconds of a `Retry-After` in seconds or as a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Headers | undefined): number | undefined {
  const value = headers?.get('retry-after')?.trim();
  if (!value) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** Does not follow redirects, which would forward the API key, and limits the size of the answer. */
async function boundedFetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  if (!response.body) return response;
  let size = 0;
  const bounded = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.length;
        if (size > MAX_ANSWER) controller.error(new AnswerTooLarge());
        else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = response;
  return new Response(bounded, { status, statusText, headers });
}
