import type { Worker } from 'node:worker_threads';
import { type OwnedThread, startThread } from '../../../concurrency/index.js';
import { CallFailure } from '../../timeline/failure.js';
import type { VoiceFacts } from '../facts/facts.js';
import type { VoiceCallOptions } from '../wire/voice-transport.js';
import type { MediaConnection, MediaReply, MediaRequest, ThreadStep } from './media-messages.js';

/** Heap of a thread in MiB: a hostile agent must not end the process. */
const HEAP_MIB = 512;

/** How long an aborted call waits for what was observed. */
const ABORT_MS = 1_000;

/** @param at on the clock of `performance` */
export type OnStep = (step: ThreadStep, at: number) => void;

/** The end of a thread that was not asked to end. */
export interface ThreadDeath {
  /** The calls that it carried, by the ids that their agents received. */
  readonly callIds: readonly string[];
  readonly cause: Error;
}

export interface MediaThreadOptions {
  readonly heapMiB?: number;
  readonly onDeath?: (death: ThreadDeath) => void;
}

/** Where voice calls run. */
export interface CallThreads {
  /**
   * Runs the task with a thread as soon as there is one. @param owner workspace of the call
   * @throws the signal's reason, if it is aborted before
   */
  use<T>(owner: string, signal: AbortSignal, task: (thread: MediaThread) => Promise<T>): Promise<T>;
}

/** A call that runs in the thread. */
interface Pending {
  readonly callId: string;
  readonly options: VoiceCallOptions;
  readonly onStep: OnStep;
  readonly resolve: (facts: VoiceFacts) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A thread in which the audio of calls is sent, received and played: nothing else that the process does delays it. Starts with
 * the first call. If it ends unexpectedly its calls fail, and the next one starts another. Does not keep the process alive
 * without a call.
 */
export class MediaThread implements OwnedThread {
  private worker: Worker | undefined;
  private readonly calls = new Map<number, Pending>();
  private memoryQuestions: ((bytes: number) => void)[] = [];
  private lastId = 0;
  private isClosing = false;

  constructor(private readonly options: MediaThreadOptions = {}) {}

  /**
   * Runs a call.
   * @throws CallFailure if there was no call; the signal's reason
   */
  call(connection: MediaConnection, options: VoiceCallOptions, onStep: OnStep = () => undefined): Promise<VoiceFacts> {
    const { plan, recording, onPiece, signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const id = ++this.lastId;
    const onAbort = () => this.abort(id);
    return new Promise<VoiceFacts>((resolve, reject) => {
      this.calls.set(id, { callId: connection.callId, options, onStep, resolve, reject });
      signal.addEventListener('abort', onAbort, { once: true });
      const passedOn = { isRecorded: recording !== undefined, isTranscribed: onPiece !== undefined };
      this.post({ type: 'call', id, task: { plan, ...passedOn, connection } });
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

  /** Bytes of the thread's heap and buffers; 0 before its start. Waits while the thread is blocked. */
  memoryBytes(): Promise<number> {
    if (!this.worker) return Promise.resolve(0);
    this.worker.postMessage({ type: 'memory' } satisfies MediaRequest);
    return new Promise((resolve) => this.memoryQuestions.push(resolve));
  }

  /** Blocks the thread, for tests of what a stall does. */
  block(ms: number): void {
    this.post({ type: 'block', ms });
  }

  /** Ends the thread unexpectedly, for tests. */
  crash(): void {
    this.post({ type: 'crash' });
  }

  /** Ends the thread, and the calls in progress as if it had died. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.worker?.terminate();
    this.isClosing = false;
  }

  private post(request: MediaRequest): void {
    this.worker ??= this.start();
    this.worker.ref();
    this.worker.postMessage(request);
  }

  private start(): Worker {
    const worker = startThread<MediaReply>(new URL('./media-worker.js', import.meta.url), {
      limits: { maxOldGenerationSizeMb: this.options.heapMiB ?? HEAP_MIB },
      onMessage: (reply) => this.receive(reply),
      onEnd: (reason) => this.ended(worker, reason),
    });
    return worker;
  }

  private receive(reply: MediaReply): void {
    if (reply.type === 'ready') return;
    if (reply.type === 'memory') return this.answerMemory(reply.bytes);
    const call = this.calls.get(reply.id);
    if (!call) return;
    switch (reply.type) {
      case 'step':
        return call.onStep(reply.step, reply.at - performance.timeOrigin);
      case 'audio':
        return call.options.recording?.audio(reply.interleaved);
      case 'wire':
        return call.options.recording?.wire(reply.lines);
      case 'piece':
        return call.options.onPiece?.(reply.piece);
      case 'turn': {
        const { id } = reply;
        return call.options.onTurn?.(reply.question, (answer) => {
          if (this.calls.has(id)) this.worker?.postMessage({ type: 'step', id, answer } satisfies MediaRequest);
        });
      }
      case 'identified':
        return call.options.onIdentified?.(reply.platformId);
      case 'hung_up':
        return call.options.onHangUp?.();
      case 'aborted':
        if (reply.facts) call.options.onAborted?.(reply.facts);
        return call.reject(call.options.signal.reason);
      case 'facts':
        return call.resolve(reply.facts);
      case 'failed':
        return call.reject(new CallFailure(reply.failure));
    }
  }

  private answerMemory(bytes: number): void {
    for (const answer of this.memoryQuestions) answer(bytes);
    this.memoryQuestions = [];
  }

  private abort(id: number): void {
    const call = this.calls.get(id);
    if (!call) return;
    this.worker?.postMessage({ type: 'abort', id } satisfies MediaRequest);
    // The thread replies with what was observed, unless it is blocked or has just ended the call.
    setTimeout(() => call.reject(call.options.signal.reason), ABORT_MS).unref();
  }

  private ended(worker: Worker, cause: Error): void {
    if (this.worker === worker) this.worker = undefined;
    this.answerMemory(0);
    const calls = [...this.calls.values()];
    if (calls.length > 0 || !this.isClosing) {
      this.options.onDeath?.({ callIds: calls.map(({ callId }) => callId), cause });
    }
    for (const { reject } of calls) reject(new CallFailure('thread_ended', {}, { cause }));
  }
}
