import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { decoded, refuse } from '../http.js';
import { SessionSockets } from '../session-sockets.js';
import type { RealtimeAgents } from './messages.js';
import { type RealtimeScript, ScriptedRealtime } from './scripted.js';

export interface RealtimePlatformOptions {
  /** The only key that is accepted; without it, every key is. */
  readonly apiKey?: string | undefined;
  /** Delay of the connection in each direction, in milliseconds. */
  readonly oneWayMs?: number;
}

/** An agent has its name in the path, or as a model: `?model=booking:FAULT`. */
const ADDRESS = /^(?:\/agents\/([^/]{1,60}))?(?:\/openai)?\/v1\/realtime$/;

/** The calls of the platform; it has no requests. */
export class RealtimePlatform {
  private readonly sockets: SessionSockets;

  constructor(
    private readonly agents: RealtimeAgents,
    private readonly options: RealtimePlatformOptions = {},
  ) {
    this.sockets = new SessionSockets(options.oneWayMs);
  }

  prepare(): Promise<unknown> {
    return this.agents.prepare();
  }

  handle(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined);
    const path = request.url ?? '';
    const url = URL.canParse(path, 'ws://agent') ? new URL(path, 'ws://agent') : undefined;
    const match = ADDRESS.exec(url?.pathname ?? '');
    if (!url || !match) return refuse(socket, '404 Not Found', 'Unknown address');
    if (!this.isAllowed(request)) return refuse(socket, '401 Unauthorized');
    const begin = await this.agents.begin(decoded(match[1] ?? url.searchParams.get('model') ?? ''));
    if (typeof begin !== 'function') return refuse(socket, ...begin);
    this.sockets.accept(request, socket, head, begin);
  }

  close(): void {
    this.sockets.close();
  }

  private isAllowed({ headers }: IncomingMessage): boolean {
    const { apiKey } = this.options;
    return apiKey === undefined || headers.authorization === `Bearer ${apiKey}` || headers['api-key'] === apiKey;
  }
}

/** The platform on the loopback, with scripted agents. */
export class RealtimeServer {
  readonly agents: ScriptedRealtime[] = [];
  private readonly platform: RealtimePlatform;
  private readonly http: Server = createServer();

  private constructor(script: RealtimeScript) {
    this.platform = new RealtimePlatform({
      prepare: () => Promise.resolve(),
      begin: () =>
        Promise.resolve((socket) => {
          const agent = new ScriptedRealtime(socket, script);
          this.agents.push(agent);
          return agent;
        }),
    });
    this.http.on('upgrade', (request, socket, head) => void this.platform.upgrade(request, socket, head));
  }

  static async start(script: RealtimeScript): Promise<RealtimeServer> {
    const server = new RealtimeServer(script);
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    return server;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}/v1/realtime`;
  }

  async stop(): Promise<void> {
    this.platform.close();
    await new Promise((resolve) => this.http.close(resolve));
  }
}
