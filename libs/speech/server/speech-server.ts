import { setTimeout as sleep } from 'node:timers/promises';
import { type EnvironmentProxy, through } from '../../environment-proxy/index.js';
import { ThreadPool } from '../../concurrency/index.js';
import { type OutboundClient, OutboundError, type OutboundResponse } from '../../outbound-http/index.js';
import { clipped, oneLine, Redaction, visible } from '../../text/index.js';
import { FairQueue } from '../fair-queue.js';
import { requireText, type Sound, SpeechError, type SpeechEngine, type SpeechRequest } from '../sound.js';
import { untilAborted } from '../until-aborted.js';
import { BadSound, MAX_BYTES, type SpokenBody } from './read-speech.js';
import type { SpokenAnswer } from './speech-thread.js';

/** Raise it when other audio is made of the same answer. */
const VERSION = '1';
const TIMEOUT_MS = 30_000;
const IDLE_MS = 60_000;
const TRIES = 3;
/** Most requests of a process at a time: servers on one graphics card make one line after the other. */
const CONCURRENCY = 4;
const MAX_ERROR_BYTES = 4_096;
const MAX_SAID = 200;
/** Refusals that may pass; others are about the address, the key, the model or the voice. */
const TEMPORARY = new Set([408, 425, 429]);

export interface SpeechServerOptions {
  /** With or without `/v1`; `/audio/speech` follows. */
  readonly baseUrl: string;
  /** What errors call it, such as the name of the setting that holds its address. */
  readonly setting: string;
  readonly apiKey?: string | undefined;
  readonly model?: string | undefined;
  readonly outbound: OutboundClient;
  readonly proxy?: EnvironmentProxy | undefined;
  /** Milliseconds that a request may take, and before it is repeated; replaced in tests. */
  readonly timeoutMs?: number;
  readonly pauseMs?: number;
}

/** The server answered with an error status. */
class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    /** Whether it was only the field `stream`, which is left out from now on. */
    readonly isOfStream: boolean,
    /** The beginning of what it said, without the key; empty if it refused the key. */
    readonly said: string,
  ) {
    super(`status ${status}`);
  }

  get isPermanent(): boolean {
    return this.status < 500 && !TEMPORARY.has(this.status);
  }
}

/** What is tried again, or said of the server. */
type Failure = BadSound | OutboundError | Refused;
const isFailure = (error: unknown): error is Failure =>
  error instanceof BadSound || error instanceof OutboundError || error instanceof Refused;

/** A speech server with the interface of OpenAI's. Its errors name the server, never its key. */
export class SpeechServer implements SpeechEngine {
  readonly name: string;
  readonly version: string;
  private readonly queue = new FairQueue(CONCURRENCY);
  private readonly threads = new ThreadPool<SpokenBody, SpokenAnswer>({
    entry: new URL('./speech-thread.js', import.meta.url),
    threads: 1,
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  });
  private readonly url: string;
  private readonly redaction: Redaction;
  /** Some servers stream unless they are asked not to, others refuse a field that they do not know. */
  private sendsStream = true;

  constructor(private readonly options: SpeechServerOptions) {
    const baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.url = `${baseUrl}${/\/v\d+$/.test(baseUrl) ? '' : '/v1'}/audio/speech`;
    this.redaction = new Redaction(options.apiKey === undefined ? [] : [options.apiKey]);
    this.name = this.url;
    this.version = JSON.stringify([VERSION, options.model ?? null]);
  }

  async synthesise(request: SpeechRequest, signal?: AbortSignal): Promise<Sound> {
    requireText(request.text);
    signal?.throwIfAborted();
    const turn = this.queue.run(request.owner ?? '', () => this.repeated(request, signal));
    return untilAborted(turn, signal);
  }

  /** Ends the thread; requests in progress fail. */
  async close(): Promise<void> {
    await this.threads.close();
  }

  private async repeated(request: SpeechRequest, signal: AbortSignal | undefined): Promise<Sound> {
    const { pauseMs = 500 } = this.options;
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted();
      try {
        return await this.attempt(request, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (!isFailure(error)) throw error;
        const isRefused = error instanceof Refused;
        if (isRefused && error.isOfStream) tries--;
        else if (tries === TRIES || (isRefused && error.isPermanent)) throw this.failed(request.text, error);
        else await sleep(pauseMs * tries, undefined, { ...(signal && { signal }) });
      }
    }
  }

  /** @throws Failure */
  private async attempt(request: SpeechRequest, signal: AbortSignal | undefined): Promise<Sound> {
    const { sendsStream } = this;
    const { status, headers, body, truncated } = await this.sent(request, sendsStream, signal);
    if (status >= 200 && status < 300) {
      if (truncated) throw new BadSound('engine', `more than ${MAX_BYTES} bytes`);
      return this.read({
        body,
        contentType: headers['content-type'] ?? '',
        text: request.text,
        rate: request.rate ?? 1,
      });
    }
    const text = body.toString('utf8', 0, MAX_ERROR_BYTES);
    const isOfStream = sendsStream && (status === 400 || status === 422) && /stream/i.test(text);
    if (isOfStream) this.sendsStream = false;
    // Some servers repeat parts of a key that they do not know.
    const said = status === 401 || status === 403 ? '' : this.redaction.clean(oneLine(visible(text)));
    throw new Refused(status, isOfStream, clipped(said, MAX_SAID));
  }

  /** In a thread: calls on this one must not wait for it. @throws BadSound */
  private async read(answer: SpokenBody): Promise<Sound> {
    const read = await this.threads.run(answer);
    if ('failure' in read) throw new BadSound(read.failure, read.reason);
    return read.sound;
  }

  private sent(
    { text, voice, rate }: SpeechRequest,
    sendsStream: boolean,
    signal: AbortSignal | undefined,
  ): Promise<OutboundResponse> {
    const { apiKey, model, outbound, proxy, timeoutMs = TIMEOUT_MS } = this.options;
    return outbound.request({
      url: this.url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'audio/wav',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        ...(model !== undefined && { model }),
        input: text,
        voice,
        response_format: 'wav',
        ...(rate !== undefined && { speed: rate }),
        ...(sendsStream && { stream: false }),
      }),
      timeoutMs,
      maxBodyBytes: MAX_BYTES,
      proxy,
      ...(signal && { signal }),
    });
  }

  private failed(text: string, error: Failure): SpeechError {
    const { setting, proxy } = this.options;
    const server = `the speech server ${new URL(this.url).host} (${setting}${through(proxy)})`;
    // Its sounds vary, and the next attempt needs only the lines that are missing.
    if (error instanceof BadSound) {
      return new SpeechError(error.failure, text, `${server} answered with ${error.message}`, { isPermanent: false });
    }
    if (error instanceof Refused) {
      const { status, said, isPermanent } = error;
      const what = `answered with status ${status}${said === '' ? '' : `: ${said}`}`;
      return new SpeechError('engine', text, `${server} ${what}`, { isPermanent });
    }
    const what = error.reason === 'TIMEOUT' ? 'did not answer in time' : `was not reached: ${error.message}`;
    return new SpeechError(error.reason === 'TIMEOUT' ? 'timeout' : 'engine', text, `${server} ${what}`);
  }
}
