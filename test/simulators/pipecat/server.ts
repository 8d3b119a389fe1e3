import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SessionSockets } from '../session-sockets.js';
import { type PipecatScript, ScriptedPipecat } from './scripted.js';

export interface PipecatServerOptions {
  readonly script?: PipecatScript;
  /** Answers `POST /start`: status and body. By default it names its own socket, with a token. */
  readonly start?: (request: { readonly body: unknown; readonly url: string }) => readonly [number, unknown];
  readonly token?: string;
  /** The upgrade waits so long. */
  readonly acceptAfterMs?: number;
}

/** A server of bots on the loopback, that records how it is reached. */
export class PipecatServer {
  readonly agents: ScriptedPipecat[] = [];
  readonly starts: { readonly headers: IncomingHttpHeaders; readonly body: unknown }[] = [];
  readonly upgrades: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  private readonly sockets = new SessionSockets();
  private readonly http = createServer((request, response) => void this.serve(request, response));

  private constructor(private readonly options: PipecatServerOptions) {
    this.http.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      this.upgrades.push({ url: request.url ?? '', headers: request.headers });
      setTimeout(
        () =>
          this.sockets.accept(request, socket, head, (line) => {
            const agent = new ScriptedPipecat(line, options.script ?? {});
            this.agents.push(agent);
            return agent;
          }),
        options.acceptAfterMs ?? 0,
      );
    });
  }

  static async start(options: PipecatServerOptions = {}): Promise<PipecatServer> {
    const server = new PipecatServer(options);
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    return server;
  }

  /** Without a scheme. */
  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `ws://${this.host}/ws-client`;
  }

  async stop(): Promise<void> {
    this.sockets.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request) text += String(part);
    const body: unknown = JSON.parse(text || 'null');
    this.starts.push({ headers: request.headers, body });
    const own = [200, { wsUrl: this.url, token: this.options.token ?? 'token', sessionId: 's-1' }] as const;
    const [status, answer] = this.options.start?.({ body, url: this.url }) ?? own;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }
}
