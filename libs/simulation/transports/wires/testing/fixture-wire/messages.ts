import { COMMON_FINDINGS } from '../../../../voice/wire/common-findings.js';
import { findingsOf, type KnownFindings } from '../../../../voice/wire/known-finding.js';

const source = 'docs/adding-a-wire.md';
export const FIXTURE_FINDINGS = {
  ...COMMON_FINDINGS,
  invalid_message: { severity: 'error', meaning: 'A message is not JSON, or lacks a type or a field', source },
  closed_without_end: { severity: 'warning', meaning: 'The connection was closed without an end message', source },
} as const satisfies KnownFindings;

export const fixtureFinding = findingsOf(FIXTURE_FINDINGS);

/** Fields of the platform's messages, beside `type`. */
const FIELDS = {
  ready: [],
  item: ['item'],
  said: ['item', 'text'],
  heard: ['text'],
  tool_call: ['id', 'name', 'json'],
  drop: ['item'],
  transfer: ['text'],
  error: ['text'],
  end: ['text'],
} as const;

type Type = keyof typeof FIELDS;
type Values = { item: number } & Record<'text' | 'id' | 'name' | 'json', string>;
export type FixtureMessage = { [T in Type]: { type: T } & Pick<Values, (typeof FIELDS)[T][number]> }[Type];

/** Reads a message of the platform; never throws. @returns `unknown`: of a type that a later version may have */
export function readMessage(text: string): FixtureMessage | 'unknown' | 'invalid' {
  try {
    const message = JSON.parse(text) as Partial<Record<string, unknown>> | null;
    if (typeof message?.type !== 'string') return 'invalid';
    if (!Object.hasOwn(FIELDS, message.type)) return 'unknown';
    const isValid = (name: string) => typeof message[name] === (name === 'item' ? 'number' : 'string');
    return FIELDS[message.type as Type].every(isValid) ? (message as FixtureMessage) : 'invalid';
  } catch {
    return 'invalid';
  }
}
