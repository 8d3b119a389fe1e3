/**
 * Definition of evaluations: types, JSON Schema and validation. Independent of storage and execution.
 */
export { caseKey } from './case-key.js';
export { CHECK_DEFINITIONS } from './check-schema.js';
export type * from './definition.js';
export { ENDED_BY, PERSONAL_DATA_KINDS } from './definition.js';
export { BACKCHANNELS, lineText, NOISES, startsDuringTurnAfter } from './script.js';
export { LINE_NOISES } from './voice.js';
export { DEFAULTS, LIMITS } from './limits.js';
export { compileMatcher, compileText, fold } from './matcher.js';
export { callLanguage, DEFAULT_LANGUAGE, isLanguageTag, languageName } from './language.js';
export { normalise, normaliseRow } from './normalise.js';
export { compilePattern, groupNames, type Pattern, PatternError, PatternChecker } from './pattern.js';
export {
  type Path,
  sentence,
  shownName,
  shownPath,
  SizeExceeded,
  textViolation,
  type Violation,
} from '../json-input/index.js';
export {
  authored,
  evaluationViolations,
  findViolations,
  inputViolations,
  type ValidationContext,
  createValidationContext,
} from './read.js';
export { fileDefinitions, fileProperties, fileSchema } from './file-schema.js';
export {
  authoredPersonality,
  type AuthoredPersonality,
  examplePersonality,
  type Gender,
  GENDERS,
  PERSONALITY_PROVIDERS,
  personalityFields,
  type PersonalityInput,
  type PersonalityProvider,
} from './personality-schema.js';
export {
  definitions,
  exampleFileItem,
  exampleOf,
  FIELD_NAMES,
  type FieldName,
  fields,
  FILE_FIELD_NAMES,
  fileFields,
  type FileFieldName,
  type InputKind,
} from './schema.js';
export { withVariables } from './variables.js';
export type { JsonSchema } from './script-schema.js';
