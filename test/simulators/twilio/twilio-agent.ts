import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Webhook {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly form: Readonly<Record<string, string>>;
}

export interface Stream {
  readonly socket: WebSocket;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly streamSid: string;
  readonly messages: Record<string, any>[];
  /** Sends a message with the right streamSid. */
  readonly send: (message: object) => void;
  readonly play: (sound: Uint8Array) => void;
}

export interface AgentScript {
  /** Returns the TwiML that answers a webhook, or writes the response itself. */
  readonly webhook?: (request: Webhook, agent: ScriptedAgent, response: ServerResponse) => string | void;
  /** Status with which an upgrade is refused; without one it is accepted. */
  readonly upgrade?: (request: IncomingMessage, socket: Socket) => number | undefined;
  /** Called after the message `start`. */
  readonly onStart?: (stream: Stream, start: Record<string, any>) => void;
  readonly onMessage?: (stream: Stream, message: Record<string, any>) => void;
  readonly onClose?: (stream: Stream, code: number) => void;
}

/** An agent on loopback that answers as the test decides: a webhook and a WebSocket. */
export class ScriptedAgent {
  readonly webhooks: Webhook[] = [];
  readonly streams: Stream[] = [];
  readonly closes: number[] = [];
  private readonly server: Server;
  private readonly connections = new Set<Socket>();
  private readonly sockets = new WebSocketServer({ noServer: true });

  private constructor(private readonly script: AgentScript) {
    this.server = createServer((request, response) => void this.answer(request, response));
    this.server.on('connection', (socket: Socket) => this.connections.add(socket.on('error', () => undefined)));
    this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head) => {
      const status = this.script.upgrade?.(request, socket);
      if (status !== undefined) {
        if (status > 0) socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 7\r\n\r\nrefused`);
        return;
      }
      this.sockets.handleUpgrade(request, socket, head, (webSocket) => this.connected(webSocket, request));
    });
  }

  static async start(script: AgentScript = {}): Promise<ScriptedAgent> {
    const agent = new ScriptedAgent(script);
    await new Promise<void>((resolve) => agent.server.listen(0, '127.0.0.1', resolve));
    return agent;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.connections) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
    const { method = '', url: path = '', headers } = request;
    const webhook = { method, path, headers, form };
    this.webhooks.push(webhook);
    const twiml = this.script.webhook?.(webhook, this, response);
    if (typeof twiml === 'string') response.setHeader('content-type', 'text/xml').end(twiml);
  }

  private connected(socket: WebSocket, { url: path = '', headers }: IncomingMessage): void {
    const stream: { -readonly [Key in keyof Stream]: Stream[Key] } = {
      socket,
      path,
      headers,
      streamSid: '',
      messages: [],
      send: (message) => socket.send(JSON.stringify({ streamSid: stream.streamSid, ...message })),
      play: (sound) => stream.send({ event: 'media', media: { payload: Buffer.from(sound).toString('base64') } }),
    };
    this.streams.push(stream);
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString('utf8')) as Record<string, any>;
      stream.messages.push(message);
      if (message.event === 'start') {
        stream.streamSid = message.streamSid as string;
        this.script.onStart?.(stream, message);
      }
      this.script.onMessage?.(stream, message);
    });
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      this.closes.push(code);
      this.script.onClose?.(stream, code);
    });
  }
}

/** TwiML that connects a stream of the same server. */
export const connect = (url: string, { before = '', after = '', attributes = '', inside = '' } = {}): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Response>${before}<Connect${attributes}><Stream url="${url}">${inside}</Stream></Connect>${after}</Response>`;
