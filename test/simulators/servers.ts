import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';

/** Servers of one spec file on free loopback ports; must be closed after each test. */
export class TestServers {
  private readonly servers: (Server | TcpServer)[] = [];
  private readonly sockets = new Set<Socket>();

  /** An HTTP server. @param answer gets the request's body as parsed JSON */
  async http(answer: (response: ServerResponse, body: any, request: IncomingMessage) => void): Promise<string> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => answer(response, JSON.parse(Buffer.concat(chunks).toString() || 'null'), request));
      response.on('error', () => undefined);
    });
    return `http://127.0.0.1:${await this.listen(server)}`;
  }

  /** A server that sends exactly the given bytes. */
  async raw(answer: (socket: Socket) => void): Promise<string> {
    const server = createTcpServer((socket) => {
      this.sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => answer(socket));
    });
    return `http://127.0.0.1:${await this.listen(server)}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    for (const server of this.servers.splice(0)) {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  private async listen(server: Server | TcpServer): Promise<number> {
    this.servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
}

export const event = (chunk: object | string): string =>
  `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`;
export const delta = (content: object, finish: string | null = null): string =>
  event({ choices: [{ index: 0, delta: content, finish_reason: finish }] });

/** Streams an answer as OpenAI does. */
export function streamText(response: ServerResponse, ...parts: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(delta({ role: 'assistant', content: '' }));
  for (const content of parts) response.write(delta({ content }));
  response.end(delta({}, 'stop') + event('[DONE]'));
}

/** Sends a complete chat completion, as the tester's language model does. */
export function sendCompletion(response: ServerResponse, content: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
    }),
  );
}
