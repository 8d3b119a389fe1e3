// A caller with the browser client of ElevenLabs, in text: says a line when the agent has greeted, or after a second, since
// this client loses what arrives together with the metadata. Prints what happens as lines of JSON.
//
//     node writer.mjs SIGNED_URL LINE
import { Conversation } from '@elevenlabs/client';
import { WebSocket } from 'ws';

globalThis.WebSocket = WebSocket;
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const [, , signedUrl, line] = process.argv;
let isSaid = false;
function say() {
  if (!isSaid) conversation.sendUserMessage(line);
  isSaid = true;
}
const conversation = await Conversation.startSession({
  signedUrl,
  connectionType: 'websocket',
  textOnly: true,
  overrides: { conversation: { textOnly: true } },
  clientTools: { find_table: ({ people }) => `A table for ${people}` },
  onMessage: ({ source, message }) => {
    print({ type: 'message', source, message });
    setImmediate(say);
  },
  onAgentChatResponsePart: ({ type, text }) => print({ type: 'part', part: type, text }),
  onIncomingEvent: (event) => print({ type: 'event', event }),
  onDisconnect: ({ reason }) => print({ type: 'ended', reason }),
  onError: (message) => print({ type: 'error', message }),
});
print({ type: 'connected' });
setTimeout(say, 1_000);
