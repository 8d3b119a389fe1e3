import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CallFailure } from '../../timeline/failure.js';
import { OtherSide } from '../../other-side/other-side.js';
import { AgentSocket } from './websocket.js';

describe('AgentSocket', () => {
  let server: WebSocketServer;
  const connections: WebSocket[] = [];

  beforeEach(async () => {
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    server.on('connection', (socket) => connections.push(socket));
    await new Promise((resolve) => server.once('listening', resolve));
  });
  afterEach(async () => {
    for (const socket of connections.splice(0)) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  it('ends the connection to an agent that does not read, once, before the memory is full', async () => {
    server.on('connection', (socket) => socket.pause());
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const failures: CallFailure[] = [];
    const message = 'x'.repeat(100_000);
    let sent = 0;
    await new Promise<void>((resolve) => {
      const socket = new AgentSocket({ url, headers: {}, addresses: ['127.0.0.1'] }, new OtherSide(url, []), 5_000, {
        onOpen: () => {
          for (; sent < 500; sent++) socket.send(message);
          // After all failures, which are reported in a later turn of the event loop.
          setImmediate(() => setImmediate(resolve));
        },
        onMessage: () => undefined,
        onClose: () => undefined,
        onFailure: (failure) => failures.push(failure),
      });
    });
    expect(failures.map(({ failure }) => failure.code)).toEqual(['connection_lost']);
    expect(failures[0]!.message).toContain('it does not read what is sent to it');
  });
});
