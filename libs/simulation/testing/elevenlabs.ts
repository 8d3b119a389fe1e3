/** The double of ElevenLabs, and calls to it. */
export { says, type ElevenLabsScript } from '../../../test/simulators/elevenlabs/scripted.js';
export { alignmentOf, server, type ServerMessage, tone } from '../../../test/simulators/elevenlabs/messages.js';
export { ElevenLabsServer } from '../../../test/simulators/elevenlabs/server.js';
export { execute } from '../transports/wires/elevenlabs/testing/scripted-call.js';
export { readMessages } from '../transports/wires/elevenlabs/testing/read-messages.js';
