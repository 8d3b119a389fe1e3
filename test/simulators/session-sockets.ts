import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

const TICK_MS = 10;
const MAX_MESSAGE = 1024 * 1024;

export interface SessionSocket {
  send(data: string | Uint8Array): void;
  /** @param code 1006 drops the connection */
  close(code?: number, reason?: string): void;
}

/** The platform's side of one call: it has neither socket nor timer. All times are milliseconds of one clock. */
export interface Session {
  onMessage(now: number, data: string | Uint8Array): void;
  /** Called at least every 20 ms. */
  tick(now: number): void;
}

/** The calls of a server, on one timer. */
export class SessionSockets {
  private readonly webSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE });
  private readonly sessions = new Map<WebSocket, Session>();
  private ticker: NodeJS.Timeout | undefined;

  /** @param oneWayMs delay of the connection in each direction */
  constructor(private readonly oneWayMs = 0) {}

  /** @param begin makes the session of the connection */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, begin: (socket: SessionSocket) => Session): void {
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const session = begin({
        send: (data) => this.later(() => webSocket.send(data)),
        close: (code = 1000, reason) =>
          this.later(() => (code === 1006 ? webSocket.terminate() : webSocket.close(code, reason))),
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
