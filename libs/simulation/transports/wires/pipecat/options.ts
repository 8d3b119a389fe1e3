import { isObject } from '../../../../json-input/index.js';
import { LINE_RATES, type LineRate } from '../../../../audio/index.js';
import { choice, type Variables, variables } from '../../modules/common-options.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';
import type { ProtocolOption, Provides } from '../../modules/module.js';
import type { Json } from '../fields.js';

/** The options of a connection, as their validation guarantees. */
export interface PipecatOptions {
  readonly variables?: Variables;
  readonly rate?: LineRate;
  readonly rtvi?: 'on' | 'off';
  readonly functionCalls?: 'shown';
  readonly readyWithinMs?: number;
  readonly start?: { readonly socket?: string; readonly token?: string; readonly body?: Json };
}

const READY_MS = { least: 5_000, most: 60_000 } as const;
const MAX_BODY = 64 * 1024;
const PATH = /^[\w-]+(\.[\w-]+)*$/;

const option = (description: string, violation: ProtocolOption['violation']): ProtocolOption => ({
  ...{ isSecret: false, description, violation },
});

export const PIPECAT_OPTIONS = {
  rate: option('samples per second of what the bot is sent: 16000 (default), 8000 or 24000', (value) =>
    (LINE_RATES as readonly unknown[]).includes(value) ? undefined : `must be ${LINE_RATES.join(', ')}`,
  ),
  rtvi: choice('`on` (default), or `off` for a bot without RTVI: nothing but audio is exchanged', ['on', 'off']),
  functionCalls: option(
    '`shown`: the bot reports its function calls with their names (`function_call_report_level`); without it they are not known',
    (value) => (value === 'shown' ? undefined : 'must be shown'),
  ),
  start: option(
    'object, for an `https` address: `socket` and `token` are paths in its answer (`wsUrl`, `token`), `body` is what is sent',
    startViolation,
  ),
  readyWithinMs: option('milliseconds that the answer of an `https` address may take: 30000 by default', (value) => {
    const isOne = Number.isInteger(value) && Number(value) >= READY_MS.least && Number(value) <= READY_MS.most;
    return isOne ? undefined : `must be a whole number from ${READY_MS.least} to ${READY_MS.most}`;
  }),
  variables: {
    ...variables,
    description: `${variables.description}, in \`body\` of what an \`https\` address is sent`,
  },
} as const satisfies Readonly<Record<string, ProtocolOption>>;

/** What a bot with these options can report: whether it shows function calls is a setting of its own. */
export const providedWith = ({ rtvi, functionCalls }: AgentEndpoint['options']): Provides => {
  const speaks = rtvi !== 'off';
  return { words: speaks, keys: speaks, toolCalls: speaks && functionCalls === 'shown' ? 'answered' : 'none' };
};

function startViolation(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object';
  const { socket = 'wsUrl', token = 'token', body = {}, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `must have socket, token and body only, and has ${unknown.slice(0, 100)}`;
  if (![socket, token].every((path) => typeof path === 'string' && PATH.test(path) && path.length <= 200)) {
    return 'must have paths such as data.wsUrl as socket and token';
  }
  if (!isObject(body)) return 'must have an object as body';
  return JSON.stringify(body).length > MAX_BODY
    ? `must have at most ${MAX_BODY} characters of JSON as body`
    : undefined;
}
