import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { PreparedVoice } from './prepare.js';
import type { AnswerStamp } from './voice-agent.js';

/** Of an agent that is called over a WebSocket. */
export interface VoiceServiceOptions {
  /** Must be sent by callers, if it is given. */
  readonly apiKey?: string | undefined;
  readonly now?: () => number;
  /** Synthesises what the agent speaks and hears with. */
  readonly prepare: () => Promise<PreparedVoice>;
  /** Called with the agent's own times of each answer, on the clock of `performance.now()`. */
  readonly onAnswer?: (stamp: AnswerStamp) => void;
}

/** Starts to prepare a voice, once; calls wait for it, and a failure is reported to each of them. */
export function preparedOnce(prepare: () => Promise<PreparedVoice>): () => Promise<PreparedVoice> {
  let prepared: Promise<PreparedVoice> | undefined;
  return () => {
    if (!prepared) {
      prepared = prepare();
      prepared.catch(() => undefined);
    }
    return prepared;
  };
}

const TICK_MS = 10;
const MAX_MESSAGE = 1024 * 1024;

/** One call of the agent over a WebSocket. */
export interface SocketSession {
  onMessage(now: number, data: string | Uint8Array): void;
  tick(now: number): void;
}

/** The calls of a server, on one timer. */
export class SessionSockets {
  private readonly webSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE });
  private readonly sessions = new Map<WebSocket, SocketSession>();
  private ticker: NodeJS.Timeout | undefined;

  /** @param oneWayMs delay of the connection in each direction */
  constructor(private readonly oneWayMs = 0) {}

  /** @param begin makes the session of the connection */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    begin: (socket: { send(data: string | Uint8Array): void; close(code?: number): void }) => SocketSession,
  ): void {
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const session = begin({
        send: (data) => this.later(() => webSocket.send(data)),
        close: (code = 1000) => this.later(() => (code === 1006 ? webSocket.terminate() : webSocket.close(code))),
      });
      this.sessions.set(webSocket, session);
      this.ticker ??= setInterval(() => this.tick(), TICK_MS);
      webSocket.on('message', (data: Buffer, isBinary) =>
        this.later(() => session.onMessage(performance.now(), isBinary ? data : data.toString('utf8'))),
      );
      webSocket.on('error', () => webSocket.terminate());
      webSocket.on('close', () => this.end(webSocket));
    });
  }

  close(): void {
    for (const webSocket of this.sessions.keys()) webSocket.terminate();
    this.webSockets.close();
    clearInterval(this.ticker);
  }

  private later(act: () => void): void {
    if (this.oneWayMs > 0) setTimeout(act, this.oneWayMs);
    else act();
  }

  private tick(): void {
    for (const session of this.sessions.values()) session.tick(performance.now());
  }

  private end(webSocket: WebSocket): void {
    this.sessions.delete(webSocket);
    if (this.sessions.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }
}
