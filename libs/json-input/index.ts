/** Checks of JSON and text from clients: what can neither be stored nor safely passed on. */
export { findJsonViolations, type JsonLimits, SizeBudget, SizeExceeded } from './json-violations.js';
export { type Path, sentence, type Violation } from './paths.js';
export { codePoints, shownName, textViolation } from './text.js';
