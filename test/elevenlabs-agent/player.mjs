// Plays schedules of messages through the Conversation of ElevenLabs' Node SDK, with a socket that is none. Prints what the
// audio interface was given and told to drop: one line of JSON for each schedule.
//
//     node player.mjs < SCHEDULES   (a JSON array of arrays of messages of the server)
import { EventEmitter } from 'node:events';
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';
import conversations from '@elevenlabs/elevenlabs-js/api/resources/conversationalAi/conversation/index.js';

const { Conversation } = conversations;

let input = '';
for await (const part of process.stdin) input += part;

for (const schedule of JSON.parse(input)) {
  const played = [];
  const socket = Object.assign(new EventEmitter(), { readyState: 1, send: () => undefined, close: () => undefined });
  const conversation = new Conversation({
    client: new ElevenLabsClient({ apiKey: 'none' }),
    agentId: 'agent',
    requiresAuth: false,
    audioInterface: {
      start: () => undefined,
      stop: () => undefined,
      output: (audio) => played.push({ at: now, audio: audio.toString('base64') }),
      interrupt: () => played.push({ at: now, drop: true }),
    },
    webSocketFactory: { create: () => socket },
  });
  const started = conversation.startSession();
  let now = 0;
  socket.emit('open');
  await started;
  for (const { atMs, message } of schedule) {
    now = atMs;
    socket.emit('message', Buffer.from(JSON.stringify(message)));
  }
  process.stdout.write(`${JSON.stringify(played)}\n`);
}
