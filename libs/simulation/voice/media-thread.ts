import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { CallFailure, type Failure } from '../failure.js';
import type { VoiceFacts } from './facts.js';
import type { VoiceCallOptions } from './media.js';
import type { MediaReply, MediaRequest } from './media-messages.js';

/** Heap of the thread in MiB: a hostile agent must not end the process. */
const HEAP_MIB = 512;

/** How long an aborted call waits for what was observed. */
const ABORT_MS = 1_000;

/** A call that runs in the thread. */
interface Pending {
  readonly options: VoiceCallOptions;
  readonly resolve: (facts: VoiceFacts) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The thread in which the sound of all calls of this process is sent, received and played: nothing else that the process does
 * delays it. Starts with the first call. If it ends unexpectedly its calls fail, and the next one starts another. Does not
 * keep the process alive without a call.
 */
export class MediaThread<Connection> {
  private worker: Worker | undefined;
  private readonly calls = new Map<number, Pending>();
  private lastId = 0;

  /** @param entry module that the thread runs; it calls `serveCalls` */
  constructor(private readonly entry: URL) {}

  /**
   * Runs a call.
   * @throws CallFailure if there was no call; the signal's reason
   */
  call(connection: Connection, options: VoiceCallOptions): Promise<VoiceFacts> {
    const { plan, recording, signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const id = ++this.lastId;
    const onAbort = () => this.abort(id);
    return new Promise<VoiceFacts>((resolve, reject) => {
      this.calls.set(id, { options, resolve, reject });
      signal.addEventListener('abort', onAbort, { once: true });
      this.post({ type: 'call', id, task: { plan, isRecorded: recording !== undefined, connection } });
    }).finally(() => {
      signal.removeEventListener('abort', onAbort);
      this.calls.delete(id);
      if (this.calls.size === 0) this.worker?.unref();
    });
  }

  /** Number of calls in progress. */
  get size(): number {
    return this.calls.size;
  }

  /** Blocks the thread, for tests of what a stall does. */
  block(ms: number): void {
    this.post({ type: 'block', ms });
  }

  /** Ends the thread and the calls in progress. */
  async close(): Promise<void> {
    await this.worker?.terminate();
  }

  private post(request: MediaRequest<Connection>): void {
    this.worker ??= this.start();
    this.worker.ref();
    this.worker.postMessage(request);
  }

  private start(): Worker {
    // A limit of the process, as NODE_OPTIONS sets it, would override that of the thread.
    setFlagsFromString('--max-old-space-size=0');
    const isSource = this.entry.pathname.endsWith('.ts');
    const worker = new Worker(fileURLToPath(this.entry), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      // Tests run the sources, and a thread does not inherit Jest's compilation.
      ...(isSource && { execArgv: ['--import', '@swc-node/register/esm-register'] }),
    });
    let error: Error | undefined;
    worker.on('message', (reply: MediaReply) => this.receive(reply));
    worker.on('error', (cause) => (error = cause));
    worker.on('exit', () => this.ended(worker, error));
    return worker;
  }

  private receive(reply: MediaReply): void {
    if (reply.type === 'ready') return;
    const call = this.calls.get(reply.id);
    if (!call) return;
    switch (reply.type) {
      case 'audio':
        return call.options.recording?.audio(reply.interleaved);
      case 'wire':
        return call.options.recording?.wire(reply.lines);
      case 'hung_up':
        return call.options.onHangUp?.();
      case 'aborted':
        if (reply.facts) call.options.onAborted?.(reply.facts);
        return call.reject(call.options.signal.reason);
      case 'facts':
        return call.resolve(reply.facts);
      case 'failed':
        return call.reject(new ThreadFailure(reply.failure));
    }
  }

  private abort(id: number): void {
    const call = this.calls.get(id);
    if (!call) return;
    this.worker?.postMessage({ type: 'abort', id } satisfies MediaRequest);
    // The thread replies with what was observed, unless it is blocked or has just ended the call.
    setTimeout(() => call.reject(call.options.signal.reason), ABORT_MS).unref();
  }

  private ended(worker: Worker, cause: Error | undefined): void {
    if (this.worker === worker) this.worker = undefined;
    for (const { reject } of this.calls.values()) {
      reject(new CallFailure('internal', 'the media thread ended', { cause }));
    }
  }
}

/** A failure that the thread has described. */
class ThreadFailure extends CallFailure {
  override readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
    this.message = failure.message;
  }
}
