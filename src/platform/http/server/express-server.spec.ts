import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { expressServer } from './express-server.js';

describe('expressServer', () => {
  let app: Express;
  let server: Server;
  let url: string;
  /** Prototypes of the request and response, before and after Express handled them. */
  const seen: { made: object[]; handled: object[] } = { made: [], handled: [] };
  const prototypes = (request: IncomingMessage, response: ServerResponse) =>
    [request, response].map((message) => Object.getPrototypeOf(message) as object);

  beforeAll(async () => {
    app = express();
    server = expressServer(app, { requireHostHeader: false });
    server.prependListener('request', (request, response) => (seen.made = prototypes(request, response)));
    app.get('/:name', (request, response) => {
      seen.handled = prototypes(request, response);
      response.json({ name: request.params['name'], host: request.get('host'), isOurs: request.app === app });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('creates requests and responses with the methods of Express', async () => {
    const response = await fetch(`${url}/one`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(await response.json()).toEqual({ name: 'one', host: new URL(url).host, isOurs: true });
  });

  it('creates them with the prototypes that Express would set', async () => {
    await (await fetch(`${url}/two`)).arrayBuffer();
    expect(seen.made).toEqual([app.request, app.response]);
    expect(seen.handled[0]).toBe(seen.made[0]);
    expect(seen.handled[1]).toBe(seen.made[1]);
  });

  it('includes properties that are added to the application’s request later', async () => {
    Object.defineProperty(app.request, 'isOpen', { get: () => true });
    app.get('/late/property', (request, response) => void response.json((request as { isOpen?: boolean }).isOpen));
    expect(await (await fetch(`${url}/late/property`)).json()).toBe(true);
  });
});
