// Gives messages to the Conversation of ElevenLabs' browser client, over a connection that is none. Prints what it plays, drops,
// says, calls and reports: one line of JSON for each list of messages.
//
//     node browser.mjs < LISTS   (a JSON array of arrays of messages of the server)
import { VoiceConversation } from './node_modules/@elevenlabs/client/dist/VoiceConversation.js';

let input = '';
for await (const part of process.stdin) input += part;

for (const messages of JSON.parse(input)) {
  const seen = [];
  const see = (type) => (value) => seen.push([type, value]);
  let receive;
  const nothing = () => undefined;
  const connection = {
    onMessage: (listener) => (receive = listener),
    ...{ onDisconnect: nothing, onModeChange: nothing, onOutgoingMessage: nothing, close: nothing },
    sendMessage: ({ type, event_id }) => seen.push(['sent', type, event_id]),
  };
  const output = { interrupt: () => seen.push(['drop']), close: nothing };
  const options = {
    onAudio: see('audio'),
    onMessage: ({ source, message }) => seen.push([source, message]),
    onError: see('error'),
    onUnhandledClientToolCall: ({ tool_name, parameters }) => seen.push(['tool', tool_name, parameters]),
    onAgentResponseCorrection: ({ corrected_agent_response }) => seen.push(['correction', corrected_agent_response]),
    onDisconnect: ({ message }) => seen.push(['ended', message]),
  };
  const full = VoiceConversation.getFullOptions(options);
  const conversation = new VoiceConversation(full, connection, { close: nothing }, output, null, nothing);
  conversation.markConnected();
  for (const message of messages) {
    try {
      await receive(message);
    } catch (error) {
      seen.push(['thrown', String(error)]);
    }
  }
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}
