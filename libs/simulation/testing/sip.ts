/** Calls over SIP whose signalling runs in the thread of the test, and what they say. */
export { callHere, sessionHere } from '../transports/wires/sip/testing/call-here.js';
export { collected, planOf, say, speech } from '../voice/testing/virtual-calls.js';
