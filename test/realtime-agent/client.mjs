// A caller with the client of OpenAI's Agents SDK: it asks for the greeting, says its first line when that was played, and its
// second one 1,500 ms into the answer. Prints what happens as lines of JSON.
//
//     node client.mjs REALTIME_URL < LINES   (a JSON array of base64: 16-bit mono at 8,000 Hz)
import { RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';

const FRAME_MS = 20;
const SAMPLES = 8 * FRAME_MS;
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

let input = '';
for await (const part of process.stdin) input += part;
const lines = JSON.parse(input).map((line) => Buffer.from(line, 'base64'));

/** ITU-T G.711. */
function mulaw(sample) {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(32_635, Math.abs(sample)) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

const session = new RealtimeSession(new RealtimeAgent({ name: 'Caller', instructions: '' }), {
  transport: 'websocket',
  config: { audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } } },
});
let speaking = Buffer.alloc(0);
let audioMs = 0;
let responses = 0;
let startedAt = 0;
session.on('error', ({ error }) => print({ type: 'error', message: String(error?.message ?? JSON.stringify(error)) }));
session.transport.on('*', (event) => {
  if (event.type === 'response.created') {
    responses += 1;
    audioMs = 0;
  }
  if (event.type === 'response.output_audio.delta') {
    if (audioMs === 0) startedAt = performance.now();
    audioMs += Buffer.from(event.delta, 'base64').length / 8;
  }
  if (event.type === 'response.output_audio_transcript.done') print({ type: 'words', text: event.transcript });
});

await session.connect({ apiKey: 'none', url: process.argv[2] });
session.transport.sendEvent({ type: 'response.create' });

let frames = 0;
let said = 0;
const origin = performance.now();
setInterval(() => {
  const played = performance.now() - startedAt;
  if (said === 0 && responses === 1 && audioMs > 0 && played > audioMs + 500) speaking = lines[said++];
  if (said === 1 && responses === 2 && audioMs > 0 && played > 1_500) speaking = lines[said++];
  for (; frames * FRAME_MS < performance.now() - origin; frames += 1) {
    const frame = Uint8Array.from({ length: SAMPLES }, (_, n) =>
      2 * n + 1 < speaking.length ? mulaw(speaking.readInt16LE(2 * n)) : 0xff,
    );
    speaking = speaking.subarray(2 * SAMPLES);
    session.transport.sendAudio(frame.buffer);
  }
}, 10);
