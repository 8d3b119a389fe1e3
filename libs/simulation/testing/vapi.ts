/** The double of Vapi, and calls to it. */
export { audio, says, type VapiScript } from '../../../test/simulators/vapi/scripted.js';
export { alignment, client, type ClientMessage, progress } from '../../../test/simulators/vapi/messages.js';
export { calls as chatCalls, result as chatResult, says as chatSays } from '../../../test/simulators/vapi/chats.js';
export { VapiServer } from '../../../test/simulators/vapi/server.js';
export { execute } from '../transports/wires/vapi/testing/scripted-call.js';
export { handleOf } from '../transports/wires/vapi/calls.js';
