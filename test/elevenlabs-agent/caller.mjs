// A caller with the Node SDK of ElevenLabs: asks the API for a signed address with its key, speaks a line after the greeting,
// answers a tool. Prints what happens as lines of JSON.
//
//     node caller.mjs API_URL KEY AGENT < LINE   (base64: 16-bit mono at 16,000 Hz)
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';
import conversations from '@elevenlabs/elevenlabs-js/api/resources/conversationalAi/conversation/index.js';

const { ClientTools, Conversation } = conversations;

const FRAME_BYTES = 640;
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

let input = '';
for await (const part of process.stdin) input += part;
let line = Buffer.from(input, 'base64');

const [, , baseUrl, apiKey, agentId] = process.argv;
const clientTools = new ClientTools();
clientTools.register('find_table', ({ people }) => `A table for ${people}`);
let isSpeaking = false;
let timer;
const conversation = new Conversation({
  client: new ElevenLabsClient({ apiKey, baseUrl }),
  agentId,
  requiresAuth: true,
  clientTools,
  audioInterface: {
    start: (input) => {
      timer = setInterval(() => {
        const frame = Buffer.alloc(FRAME_BYTES);
        if (isSpeaking) line.copy(frame);
        if (isSpeaking) line = line.subarray(FRAME_BYTES);
        input(frame);
      }, 20);
    },
    stop: () => clearInterval(timer),
    output: (audio) => print({ type: 'audio', bytes: audio.length }),
    interrupt: () => print({ type: 'interrupt' }),
  },
  callbackAgentResponse: (text) => {
    print({ type: 'response', text });
    isSpeaking = true;
  },
  callbackAgentResponseCorrection: (original, corrected) => print({ type: 'correction', original, corrected }),
  callbackUserTranscript: (text) => print({ type: 'heard', text }),
  callbackMessageReceived: (event) => event.type !== 'audio' && print({ type: 'event', event }),
  callbackLatencyMeasurement: (ms) => print({ type: 'latency', ms }),
});
conversation.on('session_ended', (id, code) => {
  clearInterval(timer);
  print({ type: 'ended', code });
});
conversation.on('error', (error) => print({ type: 'error', message: String(error?.message) }));
await conversation.startSession();
