import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';

/** An answer of a platform over HTTP, whole. */
export interface Answer {
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What the service receives in place of what the platform sends. @param variant of the exchange */
export interface Exchange {
  answer(variant: string, answer: Answer, response: ServerResponse): void;
  /** @param index of the message in its connection */
  message(variant: string, data: string | Buffer, index: number, socket: WebSocket): void;
  /** A WebSocket of the service was accepted. */
  opened?(variant: string, socket: WebSocket): void;
}

/** Headers that belong to one connection, or that a changed body would contradict. */
const OWN_HEADERS = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'upgrade'];

/** Sends an answer with another body. */
export function sendAnswer(response: ServerResponse, { status, headers }: Answer, body: string | Buffer): void {
  response.writeHead(status, own(headers)).end(body);
}

const own = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name)));

/**
 * Stands between the service and the healthy double of a platform, and changes what the platform sends. The first part of
 * each path is the name of a variant, which stays in the addresses that the platform gives.
 */
export class ExchangeProxy {
  private readonly http = createServer((incoming, response) => void this.asked(incoming, response));
  private readonly sockets = new WebSocketServer({ noServer: true });

  private constructor(
    private readonly target: string,
    private readonly exchange: Exchange,
  ) {
    this.http.on('upgrade', (incoming: IncomingMessage, socket, head) => {
      socket.on('error', () => socket.destroy());
      this.sockets.handleUpgrade(incoming, socket, head, (client) => this.dialled(incoming, client));
    });
  }

  /** @param target host and port of the double */
  static async start(target: string, exchange: Exchange): Promise<ExchangeProxy> {
    const proxy = new ExchangeProxy(target, exchange);
    proxy.http.listen(0, '127.0.0.1');
    await once(proxy.http, 'listening');
    return proxy;
  }

  /** Host and port. */
  get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const client of this.sockets.clients) client.terminate();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async asked(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    try {
      const { variant, path } = addressOf(incoming);
      const body = await buffer(incoming);
      const { method, headers } = incoming;
      const [hostname, port] = this.target.split(':') as [string, string];
      const outgoing = request({ hostname, port, path, method: method!, headers: own(headers) }).end(body);
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      const said = this.throughThis(await buffer(answer), variant);
      this.exchange.answer(
        variant,
        { path, status: answer.statusCode!, headers: answer.headers, body: Buffer.from(said) },
        response,
      );
    } catch {
      response.destroy();
    }
  }

  private dialled(incoming: IncomingMessage, client: WebSocket): void {
    const { variant, path } = addressOf(incoming);
    const { authorization } = incoming.headers;
    const headers = authorization === undefined ? {} : { authorization };
    const platform = new WebSocket(`ws://${this.target}${path}`, client.protocol === '' ? [] : [client.protocol], {
      headers,
    });
    const early: (string | Buffer)[] = [];
    let index = 0;
    client.on('message', (data: Buffer, isBinary) => {
      const message = isBinary ? data : data.toString('utf8');
      if (platform.readyState === platform.OPEN) platform.send(message);
      else early.push(message);
    });
    platform.on('open', () => early.splice(0).forEach((message) => platform.send(message)));
    platform.on('message', (data: Buffer, isBinary) => {
      const message = isBinary ? data : this.throughThis(data, variant);
      if (client.readyState === client.OPEN) this.exchange.message(variant, message, index++, client);
    });
    for (const [from, to] of [[client, platform] as const, [platform, client] as const]) {
      from.on('error', () => to.terminate());
      from.on('close', (code, reason) => (isSendable(code) ? to.close(code, reason) : to.terminate()));
    }
    this.exchange.opened?.(variant, client);
  }

  /** What the platform says, with this address in place of its own. */
  private throughThis(body: Buffer, variant: string): string {
    return body.toString('utf8').replaceAll(this.target, `${this.host}/${variant}`);
  }
}

const isSendable = (code: number): boolean => code === 1000 || (code >= 3000 && code <= 4999);

function addressOf({ url = '' }: IncomingMessage): { variant: string; path: string } {
  const [, variant = '', path = '/'] = /^\/([^/?]+)(.*)$/s.exec(url) ?? [];
  return { variant, path };
}
