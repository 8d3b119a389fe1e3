import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';
import { LIMITS } from '../../../../libs/evaluation-definition/index.js';
import { codePoints, shownName, textViolation } from '../../../../libs/json-input/index.js';
import { checked, MAX_LENGTH, StringField } from '../../../platform/http/dto/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';

/** Values of variables by name. */
export const variablesRow = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
} as const;

const MAX_VARIABLES = 50;
const MAX_VALUE = 2_000;

/** The first thing that is wrong with the variables, as the rest of a sentence about the field. */
export function agentVariablesViolation(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  const entries = Object.entries(value);
  if (entries.length > MAX_VARIABLES) return `must have at most ${MAX_VARIABLES} entries`;
  for (const [name, one] of entries) {
    const found = entryViolation(name, one);
    if (found !== undefined) return `has an invalid entry: ${shownName(name)} ${found}`;
  }
  return undefined;
}

function entryViolation(name: string, value: unknown): string | undefined {
  if (name === '' || codePoints(name) > LIMITS.variableName) {
    return `must have a name of 1 to ${LIMITS.variableName} characters`;
  }
  const inName = textViolation(name);
  if (inName !== undefined) return inName;
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return undefined;
  if (typeof value !== 'string') return 'must be a string, a number or a boolean';
  return codePoints(value) > MAX_VALUE ? `must have at most ${MAX_VALUE} characters` : textViolation(value);
}

/** The version of a run, as results show it. */
export const AssistantVersionField = (): PropertyDecorator =>
  StringField({
    description: 'Version of the agent that its platform was asked for',
    example: null,
    maxLength: MAX_LENGTH.name,
    nullable: true,
  });

/** Dynamic variables for the agent's platform. */
export function AgentVariablesField(description: string, { optional = false } = {}): PropertyDecorator {
  const original = ({ obj, key }: { obj: Readonly<Record<string, unknown>>; key: string }): unknown => obj[key];
  return applyDecorators(
    SchemaField(
      { description, ...variablesRow, maxProperties: MAX_VARIABLES, examples: [{ customer: 'Rossi', people: 4 }] },
      !optional,
    ),
    Transform(original),
    checked('variables', agentVariablesViolation),
    ValidateIf((_, value) => !optional || value !== undefined),
  );
}
