/** Hostile voice agents: `ws://HOST/ATTACK` floods its media stream, `http://HOST/slow-play` is a webhook. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { isRealtime, slowPlay, STREAM_ATTACKS } from './attacks.js';

const server = createServer((request, response) => {
  void slowPlay(request.url ?? '', request.headers.host ?? '', response);
});
const streams = new WebSocketServer({ server, perMessageDeflate: false });
streams.on('connection', (socket, { url = '' }) => {
  const attack = STREAM_ATTACKS[url.slice(1)];
  socket.on('error', () => undefined);
  if (!attack) return socket.terminate();
  if (isRealtime(url.slice(1))) {
    socket.once('message', () => void attack(socket, '').catch(() => undefined));
    return;
  }
  socket.on('message', (data: Buffer) => {
    const text = String(data);
    if (!text.startsWith('{"event":"start"')) return;
    const { streamSid } = JSON.parse(text) as { streamSid: string };
    // The service may close the socket between two messages.
    attack(socket, streamSid).catch(() => undefined);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on 127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
