// A caller with the server SDK of Vapi: reads the assistants, chats for two turns, and creates a call. The SDK has no client of
// the WebSocket, so that is a plain one, as in the documentation. Prints what happens as lines of JSON.
//
//     node caller.mjs API_URL KEY ASSISTANT FORMAT < LINE   (base64: audio of the caller in the format, pcm_s16le or mulaw)
import { VapiClient } from '@vapi-ai/server-sdk';
import { WebSocket } from 'ws';

const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

let input = '';
for await (const part of process.stdin) input += part;
let line = Buffer.from(input, 'base64');

const [, , environment, token, assistantId, format] = process.argv;
const client = new VapiClient({ token, environment });
const frameBytes = format === 'mulaw' ? 160 : 640;
const silence = Buffer.alloc(frameBytes, format === 'mulaw' ? 0xff : 0);

print({
  type: 'assistants',
  assistants: (await client.assistants.list({ limit: 10 })).map(({ id, name }) => ({ id, name })),
});
const first = await client.chats.create({ assistantId, input: 'When are you open?' });
const second = await client.chats.create({ assistantId, input: 'Thank you, goodbye.', previousChatId: first.id });
print({ type: 'chats', outputs: [first.output, second.output] });

const call = await client.calls.create({
  assistantId,
  name: 'a call of the SDK',
  transport: {
    provider: 'vapi.websocket',
    audioFormat: { format, container: 'raw', sampleRate: format === 'mulaw' ? 8000 : 16000 },
  },
});
print({ type: 'call', call });

const socket = new WebSocket(call.transport.websocketCallUrl);
let isSpeaking = false;
let bytes = 0;
const timer = setInterval(() => {
  const frame = Buffer.from(silence);
  if (isSpeaking) line.copy(frame);
  if (isSpeaking) line = line.subarray(frameBytes);
  if (socket.readyState === WebSocket.OPEN) socket.send(frame);
}, 20);
const end = async () => {
  await fetch(call.monitor.controlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'end-call' }),
  });
};
socket.on('message', (data, isBinary) => {
  if (isBinary) {
    bytes += data.length;
    return;
  }
  const message = JSON.parse(data.toString());
  print({ type: 'message', message });
  const isAgents = message.type === 'transcript' && message.role === 'assistant';
  if (isAgents && isSpeaking) void end();
  if (isAgents) isSpeaking = true;
});
socket.on('close', async (code) => {
  clearInterval(timer);
  const { status } = await client.calls.get({ id: call.id });
  print({ type: 'ended', code, bytes, status });
});
setTimeout(() => socket.terminate(), 30_000).unref();
