// The client of OpenAI's Agents SDK without a caller: it asks for a response, and truncates when the server says that the caller
// has begun to speak. Prints errors as lines of JSON.
//
//     node listener.mjs REALTIME_URL
import { RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';

const session = new RealtimeSession(new RealtimeAgent({ name: 'Caller', instructions: '' }), {
  transport: 'websocket',
  config: { audio: { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } } },
});
session.on('error', ({ error }) =>
  process.stdout.write(
    `${JSON.stringify({ type: 'error', message: String(error?.message ?? JSON.stringify(error)) })}\n`,
  ),
);
await session.connect({ apiKey: 'none', url: process.argv[2] });
session.transport.sendEvent({ type: 'response.create' });
