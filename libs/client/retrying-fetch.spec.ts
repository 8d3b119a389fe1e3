import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { retryingFetch } from './retrying-fetch.js';

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('retryingFetch', () => {
  it('waits no longer than two minutes for a Retry-After, and announces it with the words of the service', async () => {
    let requests = 0;
    const url = await serve((_request, response) => {
      if (++requests > 2) response.end();
      else if (requests === 2) response.writeHead(503, { 'Retry-After': '1' }).end('<html>');
      else response.writeHead(503, { 'Retry-After': '99999' }).end('{"message":"ElevenLabs did not answer"}');
    });
    const pauses: number[] = [];
    const said: string[] = [];
    const pause = (ms?: number) => Promise.resolve(pauses.push(ms ?? 0));
    const fetch = retryingFetch({ ms: 600_000 }, { announce: (text) => said.push(text), pause: pause as never });
    const { status } = await fetch(new Request(url));
    expect([status, pauses]).toEqual([200, [120_000, 1_000]]);
    expect(said).toEqual([
      'ElevenLabs did not answer (503); waiting 120 s.',
      'The service is not available (503); waiting 1 s.',
    ]);
  });

  it('limits the time until a stream of events begins and that of an error in its place, not that of the stream', async () => {
    const attemptMs = 200;
    let requests = 0;
    const url = await serve((_request, response) => {
      requests++;
      // The first request is never answered.
      if (requests === 2) response.writeHead(503).write('{"mess');
      if (requests < 3) return;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': first\n');
      setTimeout(() => response.end(': last\n'), 3 * attemptMs);
    });
    const fetch = retryingFetch({ ms: 60_000 }, { attemptMs, pause: (() => sleep(1)) as never });
    const response = await fetch(new Request(url, { headers: { Accept: 'text/event-stream' } }));
    expect([response.status, requests]).toEqual([200, 3]);
    expect(await response.text()).toBe(': first\n: last\n');
  });
});
