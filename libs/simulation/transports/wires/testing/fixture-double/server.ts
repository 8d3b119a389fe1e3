import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { FixtureAgent, type FixtureScript } from './agent.js';

/** The platform of the fixture wire on a socket of the loopback. */
export class FixtureServer {
  readonly agents: FixtureAgent[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly closes: number[] = [];

  private constructor(
    private readonly server: WebSocketServer,
    private readonly script: FixtureScript,
  ) {
    server.on('connection', (socket, request) => {
      this.headers.push(request.headers);
      this.connected(socket);
    });
  }

  static async start(script: FixtureScript = {}): Promise<FixtureServer> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await new Promise((resolve) => server.once('listening', resolve));
    return new FixtureServer(server, script);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}/calls/{callId}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.server.clients) socket.terminate();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private connected(socket: WebSocket): void {
    const agent = new FixtureAgent(socket, this.script);
    this.agents.push(agent);
    const timer = setInterval(() => agent.tick(performance.now()), 10);
    socket.on('message', (data: Buffer, isBinary) =>
      agent.onMessage(performance.now(), isBinary ? data : data.toString('utf8')),
    );
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      clearInterval(timer);
      this.closes.push(code);
    });
  }
}
