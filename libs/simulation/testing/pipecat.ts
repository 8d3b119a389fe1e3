/** The frames of Pipecat as they are sent and read, and calls to the double. */
export { audioFrame, messageFrame, readFrame } from '../transports/wires/pipecat/frames.js';
export { execute } from '../transports/wires/pipecat/testing/scripted-call.js';
