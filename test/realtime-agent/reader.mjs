// OpenAI's own client as a reader: for each line of standard input, `{"id", "messages"}`, a server sends it the messages, texts or
// `{"base64"}` of binary ones. Prints what the client read of them as a line of JSON: words, bytes of audio, and calls by call_id.
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';
import { WebSocketServer } from 'ws';

const AT_ONCE = 8;
const SESSION = { id: 'sess_1', object: 'realtime.session', type: 'realtime' };
const END = JSON.stringify({
  type: 'error',
  event_id: 'end',
  error: { type: 'end', message: 'the end of the messages' },
});
process.env.OPENAI_AGENTS_DISABLE_TRACING = '1';

const cases = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, messages } = JSON.parse(line);
  cases.set(String(id), messages);
}
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('connection', (socket, { url }) => {
  const messages = cases.get(url.slice(1).replace(/\?.*$/, ''));
  let isUpdated = false;
  socket.send(JSON.stringify({ event_id: 'e1', type: 'session.created', session: SESSION }));
  socket.on('message', (data) => {
    if (isUpdated || JSON.parse(data).type !== 'session.update') return;
    isUpdated = true;
    socket.send(JSON.stringify({ event_id: 'e2', type: 'session.updated', session: SESSION }));
    for (const message of [...messages, END]) {
      if (typeof message === 'string') socket.send(message);
      else socket.send(Buffer.from(message.base64, 'base64'), { binary: true });
    }
  });
});
await once(server, 'listening');

async function read(id) {
  const [words, calls] = [[], new Map()];
  let audio = 0;
  const url = `ws://127.0.0.1:${server.address().port}/${id}`;
  const transport = new OpenAIRealtimeWebSocket({ url, useInsecureApiKey: true });
  const session = new RealtimeSession(new RealtimeAgent({ name: 'agent', instructions: '' }), {
    transport,
    tracingDisabled: true,
  });
  transport.on('audio_transcript_delta', ({ delta }) => words.push(delta));
  transport.on('audio', ({ data }) => (audio += data.byteLength));
  transport.on('function_call', ({ callId, name, arguments: json }) => calls.set(callId, [name, json]));
  const ended = new Promise((resolve) => {
    session.on('error', ({ error }) => JSON.stringify(error ?? null).includes('the end of the messages') && resolve());
  });
  await session.connect({ apiKey: 'none' });
  await ended;
  session.close();
  process.stdout.write(`${JSON.stringify({ id, words: words.join(''), audio, calls: [...calls] })}\n`);
}

const waiting = [...cases.keys()];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await read(id);
  }),
);
process.exit(0);
