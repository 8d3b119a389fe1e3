/**
 * Hostile agents and platforms that are reached over HTTP, each at a path of its own: `/stream` and `/json` are text agents,
 * `/platform` speaks as ElevenLabs and Vapi do. What they send is large, and much of it is structure.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

const MIB = 1024 * 1024;
const filled = (beginning: string, part: string, end: string, bytes: number): Buffer =>
  Buffer.from(beginning + part.repeat(Math.floor((bytes - beginning.length - end.length) / part.length)) + end);

const WORD = 'data: {"choices":[{"index":0,"delta":{"content":"a "},"finish_reason":null}]}\n\n';
const STREAM = filled('', WORD, 'data: [DONE]\n\n', 4 * MIB - 1);
const BRACES = filled('{"choices":[', '{},', '{}]}', 8 * MIB);
const RECORD = filled(
  '{"id":"c","status":"in-progress","messages":[',
  '{"role":"bot","words":[]},',
  '{}]}',
  16 * MIB - 1,
);
const MESSAGE = filled('{"type":"vad_score","all":[', '{},', '{}]}', 8 * MIB - 1).toString();
const ASSISTANTS = Buffer.from(
  JSON.stringify(
    Array.from({ length: 1_000 }, (_, n) => ({
      id: `assistant-${n}`,
      name: `Assistant ${n}`,
      model: { messages: [{ role: 'system', content: 'You take bookings. '.repeat(1_660) }] },
    })),
  ),
);

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method, url = '', headers } = request;
  const [, kind, ...rest] = url.split(/[/?]/);
  const path = `${method} ${kind === 'platform' ? rest.join('/') : kind}`;
  const send = (body: Buffer | object, type = 'application/json', status = 200) => {
    response.writeHead(status, { 'content-type': type });
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
  if (path === 'POST stream') return send(STREAM, 'text/event-stream');
  if (path.startsWith('GET v1/convai'))
    return send({ signed_url: `ws://${headers.host}/elevenlabs?signature=0123456789` });
  if (path === 'POST call') {
    return send({ id: 'c', transport: { websocketCallUrl: `ws://${headers.host}/vapi` } }, 'application/json', 201);
  }
  if (path.startsWith('GET call')) return send(RECORD);
  if (path.startsWith('GET assistant')) return send(ASSISTANTS);
  if (path.startsWith('GET phone-number')) return send([]);
  return send(BRACES);
}

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => answer(request, response));
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket, { url = '' }) => {
  socket.on('error', () => undefined);
  // Its record is read, because no other address ends the call.
  if (url.startsWith('/vapi')) return socket.close(1011);
  socket.send(JSON.stringify({ type: 'conversation_initiation_metadata', conversation_initiation_metadata_event: {} }));
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN && socket.bufferedAmount === 0) socket.send(MESSAGE);
  }, 50);
  socket.on('close', () => clearInterval(timer));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on 127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
