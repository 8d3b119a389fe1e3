import type { ProtocolOption } from './module.js';

const MAX_VARIABLES = 100;
const MAX_JSON = 64 * 1024;

export type Variables = Readonly<Record<string, string | number | boolean>>;

/** The dynamic variables of an agent, for platforms that take them. */
export const variablesOption: ProtocolOption = {
  isSecret: false,
  description: 'object of strings, numbers and booleans: the dynamic variables of the agent',
  violation: (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
    const entries = Object.entries(value);
    if (entries.length > MAX_VARIABLES) return `must have at most ${MAX_VARIABLES} variables`;
    const wrong = entries.find(([, one]) => !['string', 'number', 'boolean'].includes(typeof one));
    if (wrong) return `must have strings, numbers and booleans as values: ${wrong[0].slice(0, 100)} has another one`;
    return JSON.stringify(value).length > MAX_JSON ? `must have at most ${MAX_JSON} characters of JSON` : undefined;
  },
};
