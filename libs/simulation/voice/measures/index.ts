export { delayAt, heardAtTheEarliest } from './earliest.js';
export { BUFFERED_MS, hasClear } from './floor.js';
export { heardTimes } from './heard-times.js';
export { longestLag } from './lag.js';
export { floorWaitsOf } from './latencies.js';
export { speechAt } from './lines.js';
export { silencesOf } from './silences.js';
export { stallWithin } from './stall-within.js';
export { choppyGaps, voiceMeasures } from './voice-measures.js';
