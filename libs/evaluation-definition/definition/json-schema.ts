import { LIMITS } from './limits.js';

/** A JSON Schema of version 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });
/** One alternative per field: with `oneOf` exactly one, with `anyOf` at least one. */
export const requiredEach = (...names: string[]) => names.map((name) => ({ required: [name] }));

export const matcherFields = {
  text: {
    type: 'string',
    description:
      'Words to find, ignoring letter case, white space, typographic quotes and dashes, and Markdown emphasis. Only whole words and numbers match: `45 euros` is not in "145 euros"',
    minLength: 1,
    maxLength: LIMITS.matcherText,
    examples: ['table for four'],
  },
  partOfWord: {
    type: 'boolean',
    description: 'Used with `text`: whether it also matches parts of words and numbers',
    default: false,
  },
  pattern: {
    type: 'string',
    description:
      'RE2 regular expression (https://github.com/google/re2/wiki/Syntax) to find anywhere in the text. A leading `(?i)` ignores letter case; look-around and back references are not supported',
    minLength: 1,
    maxLength: LIMITS.pattern,
    examples: ['(?i)\\b(booked|confirmed)\\b'],
  },
} as const;
export const oneMatcher = { oneOf: requiredEach('text', 'pattern'), dependentRequired: { partOfWord: ['text'] } };
