/** The double of Vapi, and calls to it. */
export { audio, says, type VapiScript } from '../../../test/simulators/vapi/double/agent.js';
export { alignment, client, type ClientMessage, progress } from '../../../test/simulators/vapi/double/messages.js';
export {
  calls as chatCalls,
  result as chatResult,
  says as chatSays,
} from '../../../test/simulators/vapi/double/chats.js';
export { VapiServer } from '../../../test/simulators/vapi/double/server.js';
export { execute } from '../transports/wires/vapi/testing/scripted-call.js';
export { handleOf } from '../transports/wires/vapi/calls.js';
