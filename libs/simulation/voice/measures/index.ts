export { heardTimes } from './heard-times.js';
export { latenciesOf } from './latencies.js';
export { type HeardSilence, pausesOf, silencesOf } from './silences.js';
export { voiceMeasures } from './voice-measures.js';
