import { randomUUID } from 'node:crypto';
import { type EnvironmentProxy, through } from '../../environment-proxy/index.js';
import { resample, writeWav } from '../../audio/index.js';
import { type OutboundClient, OutboundError, type OutboundResponse } from '../../outbound-http/index.js';
import { FairQueue } from '../fair-queue.js';
import { isInvented } from './is-invented.js';
import { readTranscription } from './read-transcription.js';
import { type Recogniser, RecogniserError, type Transcription, type TranscriptionRequest } from './recogniser.js';

const RATE = 16_000;
const TIMEOUT_MS = 15_000;
const TRIES = 2;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** The address, the key or the model is wrong: it stays wrong. */
const PERMANENT = new Set([401, 403, 404]);

/** `verbose`: asks for the times of words. Servers that have none refuse that, or fail at it. */
type Dialect = 'verbose' | 'plain';

export interface HttpRecogniserOptions {
  /** Without `/v1/audio/transcriptions`. */
  readonly baseUrl: string;
  /** Name of the setting that holds the address: errors name it. */
  readonly setting?: string;
  readonly apiKey?: string;
  readonly model?: string;
  /** Most requests at a time. */
  readonly concurrency: number;
  readonly outbound: OutboundClient;
  readonly proxy?: EnvironmentProxy | undefined;
  /** Milliseconds that a request may take; replaced in tests. */
  readonly timeoutMs?: number;
  /** Called after each piece of audio, however many requests it took; not for one that its caller aborted. */
  readonly onTranscription?: (transcription: ObservedTranscription) => void;
}

/** `nothing`: the server answered, and with nothing that can have been said. */
export const TRANSCRIPTION_OUTCOMES = ['recognised', 'nothing', 'failed'] as const;

export interface ObservedTranscription {
  readonly outcome: (typeof TRANSCRIPTION_OUTCOMES)[number];
  /** From the first request to the last response, without the wait for a turn. */
  readonly ms: number;
  readonly audioMs: number;
}

/** A transcription server with the interface of OpenAI's. */
export class HttpRecogniser implements Recogniser {
  private readonly queue: FairQueue;
  private readonly url: string;
  /** In errors. */
  private readonly name: string;
  private dialect: Dialect = 'verbose';

  constructor(private readonly options: HttpRecogniserOptions) {
    this.queue = new FairQueue(options.concurrency);
    this.url = `${options.baseUrl.replace(/\/+$/, '')}/v1/audio/transcriptions`;
    const { setting, proxy } = options;
    this.name = `${new URL(this.url).host}${setting === undefined ? '' : ` (${setting}${through(proxy)})`}`;
  }

  /** @throws RecogniserError; the signal's reason */
  transcribe(request: TranscriptionRequest): Promise<Transcription | null> {
    return this.queue.run(request.owner ?? '', () => this.observed(request));
  }

  private async observed(request: TranscriptionRequest): Promise<Transcription | null> {
    const { onTranscription } = this.options;
    const startedAt = performance.now();
    let outcome: ObservedTranscription['outcome'] = 'failed';
    try {
      const transcription = await this.recognised(request);
      outcome = transcription ? 'recognised' : 'nothing';
      return transcription;
    } finally {
      if (outcome !== 'failed' || !request.signal?.aborted) {
        const audioMs = (request.pcm.length / request.rate) * 1_000;
        onTranscription?.({ outcome, ms: performance.now() - startedAt, audioMs });
      }
    }
  }

  private async recognised(request: TranscriptionRequest): Promise<Transcription | null> {
    request.signal?.throwIfAborted();
    const durationMs = (request.pcm.length / request.rate) * 1_000;
    const wav = writeWav({
      channels: [resample(request.pcm, request.rate, RATE)],
      rate: RATE,
      encoding: 'pcm16',
    });
    const json = await this.answer(wav, request);
    const read = readTranscription(json, durationMs);
    if (!read) throw this.failed('did not answer with a transcription', true);
    return !/[\p{L}\p{N}]/u.test(read.text) || isInvented(read.text, durationMs) ? null : read;
  }

  /** The body of a successful answer. */
  private async answer(wav: Uint8Array, request: TranscriptionRequest): Promise<string> {
    let { dialect } = this;
    let isRefused = false;
    for (let tries = 1; ; tries++) {
      const response = await this.sent(wav, request, dialect).catch((error: unknown) => error);
      request.signal?.throwIfAborted();
      if (!isResponse(response)) {
        if (!(response instanceof OutboundError)) throw response;
        if (tries >= TRIES)
          throw this.failed(`was not reached: ${response.systemCode ?? response.message}`, false, response);
        continue;
      }
      const { status, truncated } = response;
      const text = response.body.toString('utf8');
      if (status >= 200 && status < 300) {
        if (truncated) throw this.failed('answered with more than 1 MiB', true);
        if (isRefused) this.dialect = dialect;
        return text;
      }
      const isOfFormat = /format|granularit/i.test(text);
      if (isOfFormat && dialect === 'verbose') {
        dialect = 'plain';
        isRefused = true;
        tries--;
        continue;
      }
      const isPermanent = PERMANENT.has(status);
      if (isPermanent || tries >= TRIES) throw this.failed(`answered with status ${status}`, isPermanent);
      // Some servers fail at a format that they do not know without saying so.
      if (status >= 500) dialect = 'plain';
    }
  }

  private sent(wav: Uint8Array, request: TranscriptionRequest, dialect: Dialect): Promise<OutboundResponse> {
    const { apiKey, model, outbound, proxy, timeoutMs = TIMEOUT_MS } = this.options;
    const boundary = randomUUID();
    const fields: [string, string][] = [
      ...(model === undefined ? [] : [['model', model] as [string, string]]),
      ['language', request.language],
      ['response_format', dialect === 'verbose' ? 'verbose_json' : 'json'],
      ...(dialect === 'verbose' ? [['timestamp_granularities[]', 'word'] as [string, string]] : []),
    ];
    return outbound.request({
      url: this.url,
      method: 'POST',
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        accept: 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: multipart(boundary, fields, wav),
      timeoutMs,
      maxBodyBytes: MAX_ANSWER_BYTES,
      proxy,
      ...(request.signal && { signal: request.signal }),
    });
  }

  private failed(what: string, isPermanent: boolean, cause?: unknown): RecogniserError {
    return new RecogniserError(`The transcription server ${this.name} ${what}`, isPermanent, { cause });
  }
}

const isResponse = (value: unknown): value is OutboundResponse =>
  typeof value === 'object' && value !== null && 'status' in value;

function multipart(boundary: string, fields: readonly [string, string][], wav: Uint8Array): Buffer {
  const part = (header: string, value: string | Uint8Array) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${header}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ];
  return Buffer.concat([
    ...fields.flatMap(([name, value]) => part(`name="${name}"`, value)),
    ...part('name="file"; filename="audio.wav"\r\nContent-Type: audio/wav', wav),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
}
