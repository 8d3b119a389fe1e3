import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Milliseconds since the receiver was started. */
  readonly at: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** The largest number of concurrent requests. */
  readonly maxConcurrent: number;
  close(): Promise<void>;
}

export type Behaviour = (response: ServerResponse, request: IncomingMessage, count: number) => void | Promise<void>;

/** Starts a webhook receiver on a free loopback port. */
export async function startReceiver(behaviour: Behaviour = (response) => void response.end()): Promise<Receiver> {
  const received: Received[] = [];
  const startedAt = performance.now();
  let concurrent = 0;
  let maxConcurrent = 0;
  const server = createServer((request, response) => {
    concurrent++;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    response.once('close', () => concurrent--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        at: performance.now() - startedAt,
      });
      void behaviour(response, request, received.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    get maxConcurrent() {
      return maxConcurrent;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Polls `read` until `isDone` accepts its value. @throws Error after `withinMs` milliseconds */
export async function eventually<T>(
  read: () => Promise<T> | T,
  isDone: (value: T) => boolean,
  withinMs = 15_000,
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (isDone(value)) return value;
    if (performance.now() > until) throw new Error(`Not done after ${withinMs} ms: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
