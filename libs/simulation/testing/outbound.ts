/** Calls of agents to the tester, and what they say. */
export { calledBack } from '../transports/wires/sip/outbound/called-back.js';
export { speech } from '../voice/testing/virtual-calls.js';
