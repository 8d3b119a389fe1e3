/** The double of ElevenLabs, and calls to it. */
export { DEFAULT_EVENTS, says, type ElevenLabsScript } from '../../../test/simulators/elevenlabs/double/agent.js';
export { alignmentOf, server, type ServerMessage, tone } from '../../../test/simulators/elevenlabs/double/messages.js';
export { ElevenLabsServer } from '../../../test/simulators/elevenlabs/double/server.js';
export { execute } from '../transports/wires/elevenlabs/testing/scripted-call.js';
export { readMessages } from '../transports/wires/elevenlabs/testing/read-messages.js';
