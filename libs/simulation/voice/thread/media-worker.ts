import { parentPort } from 'node:worker_threads';
import { answeredMemory, preferThread } from '../../../concurrency/index.js';
import { OtherSide } from '../../other-side/other-side.js';
import { failure, failureOf } from '../../timeline/failure.js';
import { AgentSocket, type SocketTarget } from '../../transports/http/websocket.js';
import { MediaCall } from '../call/media-call.js';
import type { TurnAnswer } from '../facts/turn-question.js';
import type { RecordingSink } from '../wire/voice-transport.js';
import type { WireEntry, WireFactory } from '../wire/wire.js';
import type { CallSignal, DatagramTarget } from '../wire/signalling.js';
import type { Connection } from './connection.js';
import { DatagramConnection } from './datagrams.js';
import type { MediaConnection, MediaReply, MediaRequest, MediaTask, ThreadStep } from './media-messages.js';
import { MediaPorts } from './media-ports.js';
import { MediaTicker } from './media-ticker.js';

const port = parentPort;
if (!port) throw new Error('This module runs in a worker thread');

// Audio that is sent late is the fault of the tester.
preferThread();
const reply = (message: MediaReply, transfer: readonly ArrayBuffer[] = []) => port.postMessage(message, transfer);
const ticker = new MediaTicker();
/** While its wire is loaded, what was signalled until then. */
const calls = new Map<number, ThreadCall | CallSignal[]>();
/** Those that no call has taken. */
const ports = new Map<number, MediaPorts>();

/** One call: a connection, and the `MediaCall` that speaks and hears over it. */
class ThreadCall {
  private readonly media: MediaCall;
  private readonly socket: Connection;
  /** What was signalled before the call started. */
  private readonly early: CallSignal[] = [];
  private state: 'connecting' | 'starting' | 'running' | 'over' = 'connecting';
  private isReadyReported = false;

  constructor(
    private readonly id: number,
    wire: WireFactory,
    { plan, isRecorded, isTranscribed, connection }: MediaTask,
  ) {
    const { target, answeredAt, sounds } = connection;
    this.media = new MediaCall(plan, wire, {
      send: (data) => this.socket.send(data),
      onTurn: (question) => reply({ type: 'turn', id, question }),
      onIdentified: (platformId) => reply({ type: 'identified', id, platformId }),
      ...(isTranscribed && {
        onPiece: (piece) => reply({ type: 'piece', id, piece }, [piece.pcm.buffer as ArrayBuffer]),
      }),
      ...(isRecorded && { recording: this.recording() }),
      ...(answeredAt !== undefined && { prelude: { answeredAt: answeredAt - performance.timeOrigin, sounds } }),
    });
    this.socket = 'ports' in target ? this.datagrams(target) : this.webSocket(target, connection);
    if ('ports' in target) this.opened();
  }

  private webSocket(target: SocketTarget, { shownUrl, state, timeoutMs }: MediaConnection): AgentSocket {
    return new AgentSocket(target, new OtherSide(shownUrl, state.secrets), timeoutMs, {
      onPhase: (phase) => this.reach(phase),
      onOpen: () => {
        this.reach('websocket');
        this.opened();
      },
      onFrames: ({ control, continuation }) =>
        this.guarded(() => {
          const now = performance.now();
          this.media.onFrames(now, 'control', control);
          this.media.onFrames(now, 'continuation', continuation);
          this.endIfOver();
        }),
      onPaused: (from, to) => this.guarded(() => this.media.onPaused(from, to)),
      onMessage: (data) => this.guarded(() => this.receive(performance.now(), data)),
      onClose: (code, reason) => this.guarded(() => this.closed(code, reason)),
      onBroken: (what, code) =>
        this.guarded(() => {
          this.media.onBroken(performance.now(), what, code);
          this.endIfOver();
        }),
      onFailure: (error) => {
        this.media.abort(performance.now());
        this.end({ type: 'failed', id: this.id, failure: error.failure });
      },
    });
  }

  private datagrams(target: DatagramTarget & { readonly ports: number }): DatagramConnection {
    const bound = ports.get(target.ports);
    if (!bound) throw new Error('The ports of the call are not bound');
    ports.delete(target.ports);
    return new DatagramConnection(bound, target, {
      onFirst: (at) => this.reach('media', at),
      onMessage: (data, at) => this.receive(at, data),
      onNoted: (what) => this.media.onNoted(performance.now(), what),
    });
  }

  /** Starts on the grid of the ticker, so that its frames are due when the timer fires. */
  private opened(): void {
    this.state = 'starting';
    ticker.add(this.tick);
  }

  signal({ message, target, at }: CallSignal): void {
    if (this.state === 'starting') return void this.early.push({ message, at, ...(target && { target }) });
    this.guarded(() => {
      if (target) this.socket.move?.(target);
      this.media.onSignal(at - performance.timeOrigin, message);
      this.endIfOver();
    });
  }

  answer(answer: TurnAnswer): void {
    this.guarded(() => this.media.answer(answer));
  }

  /** Always replies, so that the main thread need not wait. */
  abort(): void {
    this.guarded(() => {
      this.media.abort(performance.now());
      this.end({ type: 'aborted', id: this.id, facts: this.media.isBegun ? this.media.facts() : null });
    });
  }

  private readonly tick = (now: number, deadline: number): void => {
    this.guarded(() => {
      if (this.state === 'starting') this.start(deadline);
      this.socket.poll();
      this.media.tick(now);
      this.endIfOver();
    });
  };

  private start(now: number): void {
    this.state = 'running';
    this.media.start(now);
    for (const signal of this.early.splice(0)) this.signal(signal);
  }

  private receive(now: number, data: string | Uint8Array): void {
    this.media.onMessage(now, data);
    this.endIfOver();
  }

  private closed(code: number, reason: string): void {
    const now = performance.now();
    if (this.state === 'starting') this.start(now);
    this.media.onClose(now, { code, reason });
    this.endIfOver();
  }

  private endIfOver(): void {
    if (this.state !== 'running') return;
    if (this.media.isBegun && !this.isReadyReported) {
      this.isReadyReported = true;
      this.reach('ready', this.media.startedAt);
    }
    if (!this.media.isOver) return;
    reply({ type: 'hung_up', id: this.id });
    const broken = this.media.failure;
    this.end(
      broken
        ? { type: 'failed', id: this.id, failure: broken }
        : { type: 'facts', id: this.id, facts: this.media.facts() },
    );
  }

  private reach(step: ThreadStep, at = performance.now()): void {
    reply({ type: 'step', id: this.id, step, at: performance.timeOrigin + at });
  }

  /** A fault of one call must not end the others. */
  private guarded(work: () => void): void {
    if (this.state === 'over') return;
    try {
      work();
    } catch (error) {
      this.end({ type: 'failed', id: this.id, failure: failureOf(error) });
    }
  }

  private end(message: MediaReply): void {
    if (this.state === 'over') return;
    this.release();
    reply(message);
  }

  private release(): void {
    this.state = 'over';
    ticker.delete(this.tick);
    calls.delete(this.id);
    // What goes on sending without end is not read to its close.
    if (this.media.hasTooMuch) this.socket.drop();
    else this.socket.close();
  }

  private recording(): RecordingSink {
    const { id } = this;
    return {
      audio: (interleaved) => reply({ type: 'audio', id, interleaved }, [interleaved.buffer as ArrayBuffer]),
      wire: (lines) => reply({ type: 'wire', id, lines }),
    };
  }
}

async function begin(id: number, task: MediaTask): Promise<void> {
  const early: CallSignal[] = [];
  calls.set(id, early);
  try {
    const { entry, state } = task.connection;
    const { default: wire } = (await import(entry)) as { readonly default: WireEntry };
    // Aborted while it was loaded.
    if (!calls.has(id)) return;
    const call = new ThreadCall(id, wire(state), task);
    calls.set(id, call);
    for (const signal of early) call.signal(signal);
  } catch (error) {
    calls.delete(id);
    reply({ type: 'failed', id, failure: error instanceof SyntaxError ? failure('url_refused') : failureOf(error) });
  }
}

function abort(id: number): void {
  const call = calls.get(id);
  if (call instanceof ThreadCall) return call.abort();
  if (calls.delete(id)) reply({ type: 'aborted', id, facts: null });
}

async function bind({ id, address, range }: MediaRequest & { readonly type: 'bind' }): Promise<void> {
  try {
    const bound = await MediaPorts.bind(address, range);
    ports.set(id, bound);
    reply({ type: 'bound', id, port: bound.port, reason: '' });
  } catch (error) {
    reply({ type: 'bound', id, port: null, reason: error instanceof Error ? error.message : String(error) });
  }
}

function release(id: number): void {
  ports.get(id)?.close();
  ports.delete(id);
}

function signal(id: number, said: CallSignal): void {
  const call = calls.get(id);
  if (call instanceof ThreadCall) call.signal(said);
  else call?.push(said);
}

port.on('message', (request: MediaRequest) => {
  if (answeredMemory(request)) return;
  switch (request.type) {
    case 'call':
      return void begin(request.id, request.task);
    case 'abort':
      return abort(request.id);
    case 'bind':
      return void bind(request);
    case 'release':
      return release(request.id);
    case 'signal':
      return signal(request.id, request.signal);
    case 'step': {
      const call = calls.get(request.id);
      return call instanceof ThreadCall ? call.answer(request.answer) : undefined;
    }
  }
});
reply({ type: 'ready' });
