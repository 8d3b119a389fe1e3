import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as a receiver got it. */
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
  /** Most requests that were under way at the same time. */
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

export type Behaviour = (response: ServerResponse, request: IncomingMessage, count: number) => void | Promise<void>;

/** A receiver of webhooks on a free port of the loopback. */
export async function startReceiver(behaviour: Behaviour = (response) => void response.end()): Promise<Receiver> {
  const received: Received[] = [];
  const begun = performance.now();
  let atOnce = 0;
  let mostAtOnce = 0;
  const server = createServer((request, response) => {
    atOnce++;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    response.once('close', () => atOnce--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        at: performance.now() - begun,
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
    get mostAtOnce() {
      return mostAtOnce;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Asks again and again until the answer is fit. */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  isFit: (response: T) => boolean,
  withinMs = 15_000,
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const response = await ask();
    if (isFit(response)) return response;
    if (performance.now() > until) throw new Error(`Still not so after ${withinMs} ms: ${JSON.stringify(response)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
