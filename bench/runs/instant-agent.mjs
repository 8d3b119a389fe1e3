// An agent that answers every turn with the same words after a fixed time, as cheaply as can be: what is measured
// beside it is the tester. Arguments: milliseconds before the first token.
import { createServer } from 'node:http';

const delay = Number(process.argv[2] ?? 0);
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const ANSWER = Buffer.from(
  `${chunk({ role: 'assistant', content: 'Certainly, your table is noted.' })}${chunk({}, 'stop')}data: [DONE]\n\n`,
);
const HEAD = { 'content-type': 'text/event-stream', 'content-length': String(ANSWER.length) };

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    const answer = () => {
      response.writeHead(200, HEAD);
      response.end(ANSWER);
    };
    if (delay > 0) setTimeout(answer, delay);
    else answer();
  });
});
server.listen(0, '127.0.0.1', 4096, () => process.send?.(server.address().port));
process.once('disconnect', () => process.exit(0));
