/** The double of Vapi, and calls to it. */
export { audio, says, type VapiScript } from '../transports/wires/vapi/testing/double/agent.js';
export { alignment, client, type ClientMessage, progress } from '../transports/wires/vapi/testing/double/messages.js';
export {
  calls as chatCalls,
  result as chatResult,
  says as chatSays,
} from '../transports/wires/vapi/testing/double/chats.js';
export { VapiServer } from '../transports/wires/vapi/testing/double/server.js';
export { execute } from '../transports/wires/vapi/testing/scripted-call.js';
export { handleOf } from '../transports/wires/vapi/calls.js';
