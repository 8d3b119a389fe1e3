import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { retryingFetch } from './retrying-fetch.js';

describe('retryingFetch', () => {
  it('waits no longer than two minutes for a Retry-After, and announces it with the words of the service', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      if (++requests > 2) response.end();
      else if (requests === 2) response.writeHead(503, { 'Retry-After': '1' }).end('<html>');
      else response.writeHead(503, { 'Retry-After': '99999' }).end('{"message":"ElevenLabs did not answer"}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const pauses: number[] = [];
    const said: string[] = [];
    const pause = (ms?: number) => Promise.resolve(pauses.push(ms ?? 0));
    const fetch = retryingFetch({ ms: 600_000 }, { announce: (text) => said.push(text), pause: pause as never });
    const { status } = await fetch(new Request(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
    expect([status, pauses]).toEqual([200, [120_000, 1_000]]);
    expect(said).toEqual([
      'ElevenLabs did not answer (503); waiting 120 s.',
      'The service is not available (503); waiting 1 s.',
    ]);
    await new Promise((resolve) => server.close(resolve));
  });
});
