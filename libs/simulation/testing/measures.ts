/** How uncertain a time of a voice call is. */
export { uncertaintyWithin } from '../voice/measures/uncertainty.js';
