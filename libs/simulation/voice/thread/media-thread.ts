import { CallThread, type CallThreadOptions } from '../../../concurrency/index.js';
import type { PortRange } from '../../../rtp/index.js';
import { CallFailure } from '../../timeline/failure.js';
import type { VoiceFacts } from '../facts/facts.js';
import type { VoiceCallOptions } from '../wire/voice-transport.js';
import type { Signalling } from '../wire/signalling.js';
import type { MediaConnection, MediaReply, MediaRequest, ThreadStep } from './media-messages.js';

/** How long an aborted call waits for what was observed. */
const ABORT_MS = 1_000;

/** @param at on the clock of `performance` */
export type OnStep = (step: ThreadStep, at: number) => void;

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

/** A thread in which the audio of calls is sent, received and played: nothing else that the process does delays it. */
export class MediaThread extends CallThread<MediaRequest, MediaReply> {
  /** Module that threads run. Tests replace it. */
  static entry = new URL('./media-worker.js', import.meta.url);
  private readonly calls = new Map<number, Pending>();
  private readonly bindings = new Map<number, (port: number | Error) => void>();
  private lastId = 0;

  constructor(options: CallThreadOptions = {}) {
    super(MediaThread.entry, options);
  }

  /**
   * Binds UDP ports for the packets of a call; a `MediaConnection` names them by `id`.
   * @param address of this machine @throws CallFailure if none is free, or if the thread ends
   */
  async bind(address: string, range?: PortRange): Promise<{ readonly id: number; readonly port: number }> {
    const id = ++this.lastId;
    const port = await new Promise<number | Error>((resolve) => {
      this.bindings.set(id, resolve);
      this.post({ type: 'bind', id, address, range });
    });
    this.bindings.delete(id);
    if (typeof port !== 'number') throw port;
    return { id, port };
  }

  /** Closes ports that no call has taken. */
  release(id: number): void {
    this.tell({ type: 'release', id });
  }

  /**
   * Runs a call. @param signalling what is said of the call beside its connection
   * @throws CallFailure if there was no call; the signal's reason
   */
  call(
    connection: MediaConnection,
    options: VoiceCallOptions,
    onStep: OnStep = () => undefined,
    signalling?: Signalling,
  ): Promise<VoiceFacts> {
    const { plan, recording, onPiece, signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const id = ++this.lastId;
    const onAbort = () => this.abort(id);
    return new Promise<VoiceFacts>((resolve, reject) => {
      this.calls.set(id, { callId: connection.callId, options, onStep, resolve, reject });
      signal.addEventListener('abort', onAbort, { once: true });
      const passedOn = { isRecorded: recording !== undefined, isTranscribed: onPiece !== undefined };
      this.post({ type: 'call', id, task: { plan, ...passedOn, connection } });
      signalling?.listen((said) => {
        if (this.calls.has(id)) this.tell({ type: 'signal', id, signal: said });
      });
    }).finally(() => {
      signal.removeEventListener('abort', onAbort);
      this.calls.delete(id);
      if (this.calls.size === 0) this.rest();
    });
  }

  /** Number of calls in progress. */
  get size(): number {
    return this.calls.size;
  }

  protected receive(reply: MediaReply): void {
    if (reply.type === 'ready') return;
    if (reply.type === 'bound') {
      const { id, port, reason } = reply;
      return this.bindings.get(id)?.(port ?? new CallFailure('internal', reason));
    }
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
          if (this.calls.has(id)) this.tell({ type: 'step', id, answer });
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

  private abort(id: number): void {
    const call = this.calls.get(id);
    if (!call) return;
    this.tell({ type: 'abort', id });
    // The thread replies with what was observed, unless it is blocked or has just ended the call.
    setTimeout(() => call.reject(call.options.signal.reason), ABORT_MS).unref();
  }

  protected lost(cause: Error): readonly string[] {
    const calls = [...this.calls.values()];
    for (const { reject } of calls) reject(new CallFailure('thread_ended', {}, { cause }));
    for (const settle of this.bindings.values()) settle(new CallFailure('thread_ended', {}, { cause }));
    return calls.map(({ callId }) => callId);
  }
}
