/** Validation of JSON and text that others send: finds values that cannot be stored or processed safely. */
export { findJsonViolations, type JsonLimits, SizeBudget, SizeExceeded } from './json-violations.js';
export { MAX_SUGGESTIONS, nearestName, suggestion, unknownField, unknownFields } from './nearest-name.js';
export { isObject, type JsonObject } from './objects.js';
export { type Path, sentence, shownPath, type Violation } from './paths.js';
export { StructureCounter, structureOf } from './structure-counter.js';
export { codePoints, shownName, textViolation } from './text.js';
