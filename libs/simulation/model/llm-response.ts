import { Readable } from 'node:stream';
import { type EnvironmentProxy, fetchThrough } from '../../environment-proxy/index.js';
import { AnswerReader } from '../completions/answer-reader.js';
import { CompletionAssembler } from '../completions/completion.js';
import { READ_LIMITS } from '../other-side/read-limits.js';
import { CallFailure } from '../timeline/failure.js';
import { sanitizeText } from '../timeline/text.js';

/** Bytes of the body of an error response, and how long it may take. */
const MAX_ERROR = 4 * 1024;
const MAX_ERROR_MS = 1_000;

/** The server responded with another status than 2xx. The message is neutral: the library searches it for "timed out". */
export class ErrorStatus extends Error {
  override readonly name = 'ErrorStatus';

  constructor(
    readonly status: number,
    readonly retryAfter: string | undefined,
    /** The beginning of the body. */
    readonly said: string,
    /** Origin that a redirect leads to; path and query may be secrets. */
    readonly redirectedTo: string | undefined,
  ) {
    super(`HTTP ${status}`);
  }
}

/** The body is not a chat completion. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';

  constructor(
    /** The body, or its beginning. */
    readonly said: string,
    readonly isTooLarge = false,
  ) {
    super('Unreadable answer');
  }
}

/**
 * Does not follow redirects, which would forward the API key.
 * @throws ErrorStatus
 */
export async function fetchAnswer(url: string, init?: RequestInit, proxy?: EnvironmentProxy): Promise<Response> {
  const options: RequestInit = { ...init, redirect: 'manual' };
  const response = await (proxy ? fetchThrough(proxy, url, options) : fetch(url, options));
  if (response.ok) return response;
  const { text } = await read(response, { maxBytes: MAX_ERROR, maxMs: MAX_ERROR_MS });
  const { status, headers } = response;
  throw new ErrorStatus(status, headers.get('retry-after') ?? undefined, text, originOf(headers.get('location')));
}

const originOf = (location: string | null): string | undefined =>
  location !== null && URL.canParse(location) ? new URL(location).origin : undefined;

/**
 * Reads an answer as those of agents are read: servers stream although they are not asked to, or answer by a tool call, whose
 * arguments are then the text. What is only thought is marked as such. The text is stored and sent back.
 * @throws UnreadableAnswer; errors of the connection
 */
export async function readCompletion(response: Response) {
  const { text: body, isWhole } = await read(response, { maxBytes: READ_LIMITS.answer.bytes });
  if (!isWhole) throw new UnreadableAnswer(body, true);
  const completion = new CompletionAssembler({ now: () => 0, text: () => undefined, toolStarts: () => undefined });
  try {
    const whole = { status: response.status, headers: Object.fromEntries(response.headers), close: () => undefined };
    await new AnswerReader(completion, () => 0).read({ ...whole, body: Readable.from([Buffer.from(body)]) });
  } catch (error) {
    throw new UnreadableAnswer(body, error instanceof CallFailure && error.failure.code === 'answer_too_large');
  }
  const { text: words, toolCalls, thoughts, usage } = completion;
  const said = [words, ...toolCalls.map((call) => call.arguments)].join('\n').trim();
  const text = said === '' && thoughts !== '' ? `<think>${thoughts.trim()}` : said;
  return { text: sanitizeText(text), tokens: readUsage(usage) };
}

function readUsage(usage: unknown) {
  const { prompt_tokens: prompt, completion_tokens: completion } = (usage ?? {}) as Readonly<Record<string, unknown>>;
  const isCount = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0;
  return isCount(prompt) && isCount(completion) ? { prompt, completion } : undefined;
}

/** Reads a body up to a size. With a time limit, a body that takes longer or breaks off counts as incomplete. */
async function read({ body }: Response, { maxBytes, maxMs }: { maxBytes: number; maxMs?: number }) {
  const chunks: Uint8Array[] = [];
  const text = () => Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8');
  if (!body) return { text: '', isWhole: true };
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const timer = maxMs === undefined ? undefined : setTimeout(() => void reader.cancel().catch(() => undefined), maxMs);
  let size = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      chunks.push(part.value);
      size += part.value.length;
      if (size > maxBytes) return { text: text(), isWhole: false };
    }
  } catch (error) {
    if (maxMs === undefined) throw error;
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => undefined);
  }
  return { text: text(), isWhole: true };
}
