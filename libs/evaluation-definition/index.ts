/**
 * Definition of evaluations: types, JSON Schema and validation. Independent of storage and execution.
 */
export { caseKey } from './variables/case-key.js';
export {
  actsOf,
  CHECKS,
  criteriaIn,
  describeCheck,
  eventsOf,
  isProhibition,
  leavesOf,
  needsOf,
  withNested,
} from './checks/checks.js';
export { exceptText } from './checks/happens.js';
export { ANY_TOOL } from './definition/events.js';
export { quoteOf } from './checks/common.js';
export { TRANSFER_TOOLS } from './checks/transfers.js';
export type { Need, OfType } from './checks/kind.js';
export { CHECK_DEFINITIONS } from './checks/schema.js';
export type * from './definition/definition.js';
export { historyOf } from './definition/history.js';
export { PERSONAL_DATA_KINDS, SCOPES } from './definition/definition.js';
export { linesOf, lineText, startsDuringTurnAfter } from './definition/script.js';
export { LIMITS } from './definition/limits.js';
export { compileMatcher, compileText } from './matching/matcher.js';
export { everyCheck, withExpectations } from './expectations.js';
export { callLanguage, DEFAULT_LANGUAGE, isLanguageTag, languageName } from './definition/language.js';
export { normalise, normaliseRow } from './schema/normalise.js';
export { normaliseCondition } from './schema/normalise-check.js';
export { compilePattern, groupNames } from './matching/pattern.js';
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
export { fileDefinitions, fileProperties, fileSchema } from './schema/file-schema.js';
export {
  authoredPersonality,
  type AuthoredPersonality,
  examplePersonality,
  type Gender,
  GENDERS,
  type Interrupts,
  INTERRUPTS,
  PERSONALITY_PROVIDERS,
  personalityFields,
  type PersonalityInput,
  type PersonalityProvider,
} from './schema/personality-schema.js';
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
} from './schema/schema.js';
export { ScriptedLines } from './violations/script-violations.js';
export { type DateOrigin, dateOrigin, datesFrom, readDate } from './variables/dates.js';
export { placeholders, withVariables } from './variables/variables.js';
export type { JsonSchema } from './definition/json-schema.js';
