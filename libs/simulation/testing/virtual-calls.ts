/** Calls with sound on virtual time, for measurements outside of this library. */
export { callOf, collected, hesitating, planOf, say, talker } from '../voice/testing/virtual-calls.js';
