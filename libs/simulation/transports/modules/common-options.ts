import { type LineRate, TELEPHONE_RATE } from '../../../audio/index.js';
import type { AgentEndpoint } from './endpoint.js';
import type { ProtocolOption } from './module.js';

const MAX_VARIABLES = 100;
const MAX_JSON = 64 * 1024;

export type Variables = Readonly<Record<string, string | number | boolean>>;

/** Options that several platforms have. */
export const variables: ProtocolOption = {
  isSecret: false,
  description: 'object of strings, numbers and booleans: the dynamic variables of the agent',
  violation: variablesViolation,
};

export const line = choice('`wide` (default): 16 kHz; `telephone`: 8 kHz', ['wide', 'telephone']);

/** The rate that the option `line` asks for. */
export const lineRateOf = (options: AgentEndpoint['options']): LineRate =>
  options['line'] === 'telephone' ? TELEPHONE_RATE : 16_000;

/** Options that every protocol has. */
export const COMMON_OPTIONS = {
  toolCalls: {
    isSecret: false,
    description:
      '`reported`: the backend of the agent reports its tool calls (`POST /tool-calls`), which count beside those that the protocol shows',
    violation: (value) => (value === 'reported' ? undefined : 'must be "reported"'),
  },
} as const satisfies Readonly<Record<string, ProtocolOption>>;

/** Whether the backend of an agent reports its tool calls. */
export const reportsTools = ({ toolCalls }: AgentEndpoint['options']): boolean => toolCalls === 'reported';

/** An option with one of two values. */
export function choice(description: string, values: readonly [string, string]): ProtocolOption {
  const violation = (value: unknown) =>
    values.some((one) => one === value) ? undefined : `must be ${values.join(' or ')}`;
  return { isSecret: false, description, violation };
}

/** The option `variables` of protocols that have it. */
export const variablesOf = ({ variables: given }: AgentEndpoint['options']): Variables =>
  typeof given === 'object' && given !== null ? (given as Variables) : {};

function variablesViolation(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  const entries = Object.entries(value);
  if (entries.length > MAX_VARIABLES) return `must have at most ${MAX_VARIABLES} variables`;
  // JSON has numbers such as 1e999, which are infinite here and would be stored as null.
  const isOne = (one: unknown) => Number.isFinite(one) || typeof one === 'string' || typeof one === 'boolean';
  const wrong = entries.find(([, one]) => !isOne(one));
  if (wrong) return `must have strings, numbers and booleans as values: ${wrong[0].slice(0, 100)} has another one`;
  return JSON.stringify(value).length > MAX_JSON ? `must have at most ${MAX_JSON} characters of JSON` : undefined;
}
