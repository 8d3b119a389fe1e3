/** The double of ElevenLabs, and calls to it. */
export { DEFAULT_EVENTS, says, type ElevenLabsScript } from '../transports/wires/elevenlabs/testing/double/agent.js';
export {
  alignmentOf,
  server,
  type ServerMessage,
  tone,
} from '../transports/wires/elevenlabs/testing/double/messages.js';
export { ElevenLabsServer } from '../transports/wires/elevenlabs/testing/double/server.js';
export { execute } from '../transports/wires/elevenlabs/testing/scripted-call.js';
export { readMessages } from '../transports/wires/elevenlabs/testing/read-messages.js';
