import { parentPort } from 'node:worker_threads';
import { failure, failureOf } from '../failure.js';
import { OtherSide } from '../other-side.js';
import { MediaCall } from '../voice/media-call.js';
import type { MediaReply, MediaRequest, MediaTask } from '../voice/media-messages.js';
import { MediaTicker } from '../voice/media-ticker.js';
import type { RecordingSink } from '../voice/media.js';
import type { PlatformEvent, VoiceFacts, WireFinding } from '../voice/facts.js';
import { twilioProtocol, type TwilioStream } from './twilio/protocol.js';
import { AgentSocket, type SocketTarget } from './websocket.js';

/** How the media thread reaches an agent. */
export interface MediaConnection {
  readonly target: SocketTarget;
  /** What failures show as the address. */
  readonly shownUrl: string;
  readonly timeoutMs: number;
  /** Of the protocol `twilio-media-streams`. */
  readonly twilio: TwilioStream;
  /** The answer in milliseconds since the epoch, with fractions; undefined if the call begins with the stream. */
  readonly answeredAt: number | undefined;
  /** Made before the stream. */
  readonly findings: readonly WireFinding[];
  readonly events: readonly PlatformEvent[];
  /** What the platform said for the agent before the stream, in mu-law; times in milliseconds from the answer. */
  readonly sounds: readonly { readonly atMs: number; readonly mulaw: Uint8Array }[];
}

const port = parentPort;
if (!port) throw new Error('This module runs in a worker thread');

const reply = (message: MediaReply, transfer: readonly ArrayBuffer[] = []) => port.postMessage(message, transfer);
const ticker = new MediaTicker();
const calls = new Map<number, ThreadCall>();

/** One call: a socket, and the `MediaCall` that speaks and hears over it. */
class ThreadCall {
  private readonly media: MediaCall;
  private readonly socket: AgentSocket;
  private state: 'connecting' | 'starting' | 'running' | 'over' = 'connecting';
  /** What arrived before the first tick. */
  private early: (string | Uint8Array)[] = [];

  constructor(
    private readonly id: number,
    { plan, isRecorded, connection }: MediaTask<MediaConnection>,
  ) {
    const { twilio, target, shownUrl, timeoutMs, answeredAt, sounds } = connection;
    this.findings = connection.findings;
    this.events = connection.events;
    this.media = new MediaCall(plan, twilioProtocol(twilio), {
      send: (data) => this.socket.send(data),
      ...(isRecorded && { recording: this.recording() }),
      ...(answeredAt !== undefined && { prelude: { answeredAt: answeredAt - performance.timeOrigin, sounds } }),
    });
    this.socket = new AgentSocket(target, new OtherSide(shownUrl, twilio.secrets), timeoutMs, {
      onOpen: () => {
        // Starts on the grid of the ticker, so that its frames are due when the timer fires.
        this.state = 'starting';
        ticker.add(this.tick);
      },
      onMessage: (data) => this.guarded(() => this.receive(data)),
      onClose: (code, reason) => this.guarded(() => this.closed(code, reason)),
      onFailure: (error) => {
        this.media.abort(performance.now());
        this.end({ type: 'failed', id: this.id, failure: error.failure });
      },
    });
  }

  private readonly findings: readonly WireFinding[];
  private readonly events: readonly PlatformEvent[];

  /** Always replies, so that the main thread need not wait. */
  abort(): void {
    this.guarded(() => {
      if (this.state === 'running') this.media.abort(performance.now());
      const facts = this.state === 'running' ? this.withPrelude(this.media.facts()) : null;
      this.end({ type: 'aborted', id: this.id, facts });
    });
  }

  private readonly tick = (now: number, deadline: number): void => {
    this.guarded(() => {
      if (this.state === 'starting') this.start(deadline);
      this.media.tick(now);
      this.endIfOver();
    });
  };

  private start(now: number): void {
    this.state = 'running';
    this.media.start(now);
    for (const data of this.early) this.media.onMessage(now, data);
    this.early = [];
  }

  private receive(data: string | Uint8Array): void {
    if (this.state === 'starting') this.early.push(data);
    else this.media.onMessage(performance.now(), data);
    this.endIfOver();
  }

  private closed(code: number, reason: string): void {
    const now = performance.now();
    if (this.state === 'starting') this.start(now);
    this.media.onClose(now, { code, reason });
    this.endIfOver();
  }

  private endIfOver(): void {
    if (this.state !== 'running' || !this.media.isOver) return;
    reply({ type: 'hung_up', id: this.id });
    const facts = this.media.facts();
    this.end({ type: 'facts', id: this.id, facts: this.withPrelude(facts) });
  }

  private withPrelude(facts: VoiceFacts): VoiceFacts {
    const wireFindings = [...this.findings, ...facts.wireFindings];
    return { ...facts, wireFindings, platformEvents: [...this.events, ...facts.platformEvents] };
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
    this.socket.close();
  }

  private recording(): RecordingSink {
    const { id } = this;
    return {
      audio: (interleaved) => reply({ type: 'audio', id, interleaved }, [interleaved.buffer as ArrayBuffer]),
      wire: (lines) => reply({ type: 'wire', id, lines }),
    };
  }
}

port.on('message', (request: MediaRequest<MediaConnection>) => {
  switch (request.type) {
    case 'call': {
      const { id, task } = request;
      try {
        calls.set(id, new ThreadCall(id, task));
      } catch (error) {
        reply({
          type: 'failed',
          id,
          failure: error instanceof SyntaxError ? failure('url_refused') : failureOf(error),
        });
      }
      return;
    }
    case 'abort':
      return calls.get(request.id)?.abort();
    case 'block': {
      const until = performance.now() + request.ms;
      while (performance.now() < until);
    }
  }
});
reply({ type: 'ready' });
