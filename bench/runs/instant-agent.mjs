// An agent that answers every turn with the same words after a fixed time. It writes bytes to sockets, as the load client
// does (decision 44): it shares the machine with what is measured, and what it takes or is late by would be counted as
// the tester's. Argument: milliseconds before the first token.
import { createServer } from 'node:net';

const delay = Number(process.argv[2] ?? 0);
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const BODY = `${chunk({ role: 'assistant', content: 'Certainly, your table is noted.' })}${chunk({}, 'stop')}data: [DONE]\n\n`;
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(BODY)}\r\n\r\n${BODY}`,
);
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;

const server = createServer({ noDelay: true }, (socket) => {
  let received = '';
  const answer = () => socket.write(ANSWER);
  // One request after the other on a connection; a byte is a character.
  socket.setEncoding('latin1').on('data', (piece) => {
    received += piece;
    const head = received.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = Number(LENGTH.exec(received.slice(0, head + 2))?.[1]);
    if (received.length < head + 4 + length) return;
    received = '';
    if (delay > 0) setTimeout(answer, delay);
    else answer();
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', 4096, () => process.send?.(server.address().port));
process.once('disconnect', () => process.exit(0));
