export { delayAt, heardAtTheEarliest } from './earliest.js';
export { BUFFERED_MS, hasClear } from './floor.js';
export { heardTimes } from './heard-times.js';
export { latenciesOf } from './latencies.js';
export { speechAt } from './lines.js';
export { type HeardSilence, pausesOf, silencesOf } from './silences.js';
export { stallWithin } from './stall-within.js';
export { uncertaintyWithin, withoutBed } from './uncertainty.js';
export { voiceMeasures } from './voice-measures.js';
