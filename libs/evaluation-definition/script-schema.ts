import { LIMITS } from './limits.js';

/** A JSON Schema of the dialect 2020-12, which is that of OpenAPI 3.1 too. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` });
/** Exactly one of these fields; `violationsOf` words its violation. */
export const exactlyOne = (...names: string[]) => names.map((name) => ({ required: [name] }));

const line = (description: string, example: string): JsonSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: LIMITS.line,
  examples: [example],
});

export const matcherFields = {
  text: {
    type: 'string',
    description: 'Part that is looked for, in any letter case and with any white space between its words',
    minLength: 1,
    maxLength: LIMITS.matcherText,
    examples: ['table for four'],
  },
  pattern: {
    type: 'string',
    description:
      'Regular expression of RE2 (https://github.com/google/re2/wiki/Syntax) that is looked for anywhere. `(?i)` in front ignores letter case; look-around and back references do not exist',
    minLength: 1,
    maxLength: LIMITS.pattern,
    examples: ['(?i)\\b(booked|confirmed)\\b'],
  },
} as const;

const when = {
  allOf: [ref('Condition')],
  description: "The step is skipped unless this holds for the agent's last answer",
};

/** Named parts of the schema that describe what a scripted caller does. */
export const scriptDefinitions = {
  Matcher: {
    title: 'Matcher',
    description: 'Finds a part of what was said: either `text` or `pattern`.',
    type: 'object',
    properties: matcherFields,
    additionalProperties: false,
    oneOf: exactlyOne('text', 'pattern'),
  },
  Condition: {
    title: 'Condition',
    description: "A condition on the agent's last answer. When both are given, both must hold.",
    type: 'object',
    properties: {
      says: { allOf: [ref('Matcher')], description: 'The agent said this' },
      notSays: { allOf: [ref('Matcher')], description: 'The agent did not say this' },
    },
    additionalProperties: false,
    minProperties: 1,
  },
  ScriptAnswer: {
    title: 'Answer',
    description: 'Something that the caller says whenever the agent asks for it.',
    type: 'object',
    properties: {
      when: { allOf: [ref('Condition')], description: 'How the question is recognised in what the agent said' },
      say: line('What the caller answers', 'Rossi, with a double s.'),
    },
    required: ['when', 'say'],
    additionalProperties: false,
  },
  ScriptStep: {
    title: 'Step of a script',
    description:
      'One thing that the scripted caller does: `say` a line, give `answers` to questions in any order, be silent for `waitSeconds`, or `end` the call.',
    type: 'object',
    properties: {
      when,
      say: line('What the caller says; the next step follows the answer', "Hello, I'd like to book a table."),
      answers: {
        type: 'array',
        description:
          'Answers to questions whose order is not known. Every turn the caller says all that fit, in this order; the step ends at the first turn that no answer fits, or with `until` when that holds. The turn that ends it belongs to the next step',
        items: ref('ScriptAnswer'),
        minItems: 1,
        maxItems: LIMITS.answers,
      },
      until: {
        allOf: [ref('Condition')],
        description: 'Goes with `answers`: they go on until this holds. Needs `otherwise`',
      },
      otherwise: line(
        'Goes with `until`: what the caller says when no answer fits',
        'Sorry, could you say that again?',
      ),
      waitSeconds: {
        type: 'number',
        description: 'So long the caller is silent',
        minimum: 0,
        maximum: LIMITS.waitSeconds,
        examples: [5],
      },
      end: {
        type: 'string',
        description: 'Ends the call; the text is the reason that the result shows',
        minLength: 1,
        maxLength: LIMITS.reason,
        examples: ['The table is booked'],
      },
    },
    additionalProperties: false,
    oneOf: exactlyOne('say', 'answers', 'waitSeconds', 'end'),
    dependentRequired: { until: ['answers', 'otherwise'], otherwise: ['answers', 'until'] },
  },
} as const;
