// A chat-completions agent with a fixed reply, in its own process. Argument: milliseconds until the reply.
import { createServer } from 'node:http';

const delayMs = Number(process.argv[2]);
const event = (delta, finish_reason) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const REPLY =
  event({ role: 'assistant', content: 'Certainly, your table is noted.' }, null) +
  event({}, 'stop') +
  'data: [DONE]\n\n';
const HEADERS = { 'content-type': 'text/event-stream', 'content-length': Buffer.byteLength(REPLY) };

const server = createServer((request, response) => {
  const reply = () => response.writeHead(200, HEADERS).end(REPLY);
  request.resume().once('end', () => (delayMs > 0 ? setTimeout(reply, delayMs) : reply()));
});
// Longer than any pause of the service, so that no connection is closed during a request.
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => process.send(server.address().port));
process.once('disconnect', () => process.exit(0));
