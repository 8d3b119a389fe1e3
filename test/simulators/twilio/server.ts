import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { readBody, refuse } from '../http.js';
import { SessionSockets } from '../session-sockets.js';
import { streamOriginOf, type TwilioAgents, type Webhook } from './messages.js';
import { type AgentScript, ScriptedAgents } from './scripted.js';

export interface TelephoneOptions {
  /** Signatures of webhook and WebSocket are checked if it is given. */
  readonly authToken?: string | undefined;
  /** Address of the server as Twilio sees it; by default the `Host` that a request names. */
  readonly publicUrl?: string | undefined;
}

/** Webhook and media streams of agents that Twilio calls; they are served by an HTTP server. */
export class Telephone {
  private readonly sockets = new SessionSockets();

  constructor(
    private readonly agents: TwilioAgents,
    private readonly options: TelephoneOptions = {},
  ) {}

  prepare(): Promise<unknown> {
    return this.agents.prepare();
  }

  /** Answers a webhook. @returns false for requests that are not the telephone's @throws RequestError */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { method = '', url: path = '', headers } = request;
    if (!this.agents.hasWebhook(method, path)) return false;
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
    const origin = this.originOf(headers);
    if (this.isSigned(headers, origin + path, form)) {
      const twiml = await this.agents.answer({ method, path, headers, form, origin }, response);
      if (typeof twiml === 'string') response.setHeader('Content-Type', 'text/xml; charset=utf-8').end(twiml);
    } else response.writeHead(403).end();
    return true;
  }

  /** Takes the upgrade of a media stream; refuses all others. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { url = '', headers } = request;
    if (!this.isSigned(headers, streamOriginOf(this.originOf(headers)) + url)) return refuse(socket, '403 Forbidden');
    const beginning = await this.agents.begin(request, socket);
    if (typeof beginning === 'function') this.sockets.accept(request, socket, head, beginning);
    else if (beginning) refuse(socket, ...beginning);
  }

  close(): void {
    this.sockets.close();
  }

  private originOf({ host = 'localhost' }: IncomingHttpHeaders): string {
    return this.options.publicUrl ?? `http://${host}`;
  }

  /**
   * Whether `X-Twilio-Signature` is right: base64 of HMAC-SHA1 under the auth token over the URL, followed by names and
   * values of the form in order of the names. See https://www.twilio.com/docs/usage/security#validating-requests.
   */
  private isSigned(headers: IncomingHttpHeaders, url: string, form: Webhook['form'] = {}): boolean {
    const { authToken } = this.options;
    if (authToken === undefined) return true;
    const fields = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const right = createHmac('sha1', authToken)
      .update(url + fields.flat().join(''))
      .digest();
    const given = Buffer.from(String(headers['x-twilio-signature'] ?? ''), 'base64');
    return given.length === right.length && timingSafeEqual(given, right);
  }
}

/** Scripted agents on the loopback. */
export class TwilioServer extends ScriptedAgents {
  private readonly telephone = new Telephone(this);
  private readonly connections = new Set<Socket>();
  private readonly http = createServer((request, response) => void this.telephone.handle(request, response));

  private constructor(script: AgentScript) {
    super(script);
    this.http.on('connection', (socket: Socket) => this.connections.add(socket.on('error', () => undefined)));
    this.http.on('upgrade', (request, socket, head) => void this.telephone.upgrade(request, socket, head));
  }

  static async start(script: AgentScript = {}): Promise<TwilioServer> {
    const server = new TwilioServer(script);
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    return server;
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  override get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    this.telephone.close();
    for (const socket of this.connections) socket.destroy();
    await new Promise((resolve) => this.http.close(resolve));
  }
}
