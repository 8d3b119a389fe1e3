import { CHECKS } from './checks.js';
import { LIMITS } from '../definition/limits.js';
import { ref } from '../definition/json-schema.js';
import { checkParts, judgement, turnNumber } from './parts-schema.js';

/** `MaxLatencyCheck` for `max_latency_ms`. */
const partName = (type: string): string =>
  `${type.replace(/_ms$/, '').replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())}Check`;

/** Name of the schema part of each type of check. */
export const CHECK_DEFINITIONS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(CHECKS).map((type) => [type, partName(type)]),
);

/** Named parts of the schema that describe checks and criteria. */
export const checkDefinitions = {
  ...checkParts,
  ...Object.fromEntries(Object.entries(CHECKS).map(([type, { schema }]) => [partName(type), schema(type)])),
  Check: {
    title: 'Check',
    description: 'A deterministic condition on what happened during the call.',
    type: 'object',
    discriminator: { propertyName: 'type' },
    oneOf: Object.values(CHECK_DEFINITIONS).map(ref),
  },
  Criterion: {
    title: 'Criterion',
    description: 'A statement that a judge, a language model, decides with a quote from the transcript as evidence.',
    type: 'object',
    properties: {
      text: {
        type: 'string',
        description: 'One statement about the call that is either true or not',
        minLength: 1,
        maxLength: LIMITS.criterion,
        examples: ['The agent repeats the date, the time and the number of people before it books.'],
      },
      turn: turnNumber,
      ...judgement,
    },
    required: ['text'],
    additionalProperties: false,
  },
} as const;
