import { type JsonSchema, requiredEach } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';

/** An entry of `toolResults`. */
export const toolResultSchema = {
  title: 'Tool result',
  description:
    'What the tester returns when the agent waits for the result of a tool: exactly one of `result`, `results`, `error` and `noAnswer`.',
  type: 'object',
  properties: {
    tool: {
      type: 'string',
      description: 'Name of the tool, exactly as the agent calls it',
      minLength: 1,
      maxLength: LIMITS.tool,
      examples: ['find_table'],
    },
    arguments: {
      type: 'object',
      description:
        'Only for calls with exactly these arguments. Each given argument must be present with the same value, nested objects likewise; further arguments are ignored',
      examples: [{ people: 4 }],
    },
    argumentsSchema: {
      type: 'object',
      description:
        'Only for calls whose arguments fit this JSON Schema (version 2020-12), for ranges, patterns and choices',
      examples: [{ properties: { people: { type: 'integer', maximum: 8 } }, required: ['people'] }],
    },
    same: {
      type: 'object',
      description:
        'Only for calls with the same arguments in any form that the check `same_value` knows: `19:00` is "7 pm". Whether an ambiguous form is meant is not known: such a call is an `error`',
      minProperties: 1,
      examples: [{ time: '19:00' }],
    },
    result: { description: 'The result: any JSON value', examples: [{ times: ['19:00', '19:30'] }] },
    results: {
      type: 'array',
      description: 'Results of one call after the other, each once: any JSON values',
      items: {},
      minItems: 1,
      maxItems: LIMITS.resultSequence,
      examples: [[{ times: [] }, { times: ['20:00'] }]],
    },
    error: {
      type: 'string',
      description:
        'The tool fails and says this: the agent gets `{"error":"…"}`, or an error where its protocol has one',
      minLength: 1,
      maxLength: LIMITS.toolError,
      examples: ['The booking system is down'],
    },
    noAnswer: { type: 'boolean', enum: [true], description: 'The tool never answers', examples: [true] },
    times: {
      type: 'integer',
      description: 'How many calls get it; any number by default. After that, the next entry that fits applies',
      minimum: 1,
      maximum: LIMITS.times,
      examples: [1],
    },
    delayMs: {
      type: 'integer',
      description: 'How long the tool takes, in milliseconds',
      minimum: 1,
      maximum: LIMITS.toolDelayMs,
      examples: [3000],
    },
  },
  required: ['tool'],
  oneOf: requiredEach('result', 'results', 'error', 'noAnswer'),
  additionalProperties: false,
} as const satisfies JsonSchema;
