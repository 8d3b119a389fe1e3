import { type JsonSchema, requiredEach } from '../definition/json-schema.js';
import { LIMITS } from '../definition/limits.js';

const words = (who: string, example: string) => ({
  type: 'string',
  description: `What the ${who} said`,
  minLength: 1,
  maxLength: LIMITS.historyText,
  examples: [example],
});

/** A line of `history`. */
export const historyLineSchema = {
  title: 'History line',
  description: 'What was said or done before the call: exactly one of `caller`, `agent` and `tool`.',
  type: 'object',
  properties: {
    caller: words('caller', 'A table for four on Friday, please.'),
    agent: words('agent', 'At what time?'),
    tool: {
      type: 'string',
      description: 'Name of a tool that the agent called',
      minLength: 1,
      maxLength: LIMITS.tool,
      examples: ['find_table'],
    },
    arguments: { type: 'object', description: 'Its arguments', examples: [{ people: 4 }] },
    result: {
      description: 'What it returned: any JSON value; `{"status":"ok"}` by default',
      examples: [{ times: [] }],
    },
  },
  oneOf: requiredEach('caller', 'agent', 'tool'),
  dependentRequired: { arguments: ['tool'], result: ['tool'] },
  additionalProperties: false,
} as const satisfies JsonSchema;
