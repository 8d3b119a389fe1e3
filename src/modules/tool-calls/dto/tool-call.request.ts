import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import type { JsonValue } from '../../../../libs/simulation/index.js';
import { EXAMPLE_ID } from '../../../platform/http/dto/example-ids.js';
import { checked, MAX_LENGTH, StringField } from '../../../platform/http/dto/fields.js';
import { isDateAndTime } from '../../../platform/http/dto/moment.field.js';

/** Of arguments and result, in characters. */
const MAX_JSON = 16_384;

const jsonViolation = (value: unknown): string | undefined =>
  JSON.stringify(value).length > MAX_JSON ? `must have at most ${MAX_JSON} characters of JSON` : undefined;

const argumentsViolation = (value: unknown): string | undefined =>
  typeof value === 'string' || (typeof value === 'object' && !Array.isArray(value))
    ? jsonViolation(value)
    : 'must be an object, or a text with JSON';

const momentViolation = (value: unknown): string | undefined =>
  typeof value === 'string' && isDateAndTime(value)
    ? undefined
    : 'must be a date and time with a time zone, such as 2026-11-21T06:37:42.758Z';

const identifier = { minLength: 1, maxLength: MAX_LENGTH.identifier };
const whenGiven = ValidateIf((_, value) => value !== undefined);

/** A tool call of an agent, as its backend reports it. */
export class ReportToolCallRequest {
  @StringField({
    ...identifier,
    description: 'The `X-Call-Id` that the agent received with the call, or its `CallSid` of Twilio',
    example: EXAMPLE_ID.call,
  })
  callId: string;

  @StringField({
    ...identifier,
    description:
      'Id of the tool call. Reports of a call with the same `id`, `name` and `arguments` are one, so that a report can be repeated; without it each report is a tool call',
    example: 'call_h7Qk2',
    optional: true,
  })
  id?: string;

  @StringField({ description: 'Name of the tool', example: 'book_table', minLength: 1, maxLength: MAX_LENGTH.name })
  name: string;

  @ApiProperty({
    description: `Its arguments: an object, or JSON in a text, of at most ${MAX_JSON} characters`,
    required: false,
    example: { guests: 2, time: '19:00' },
  })
  @checked('arguments', argumentsViolation)
  @whenGiven
  arguments?: string | Readonly<Record<string, unknown>> | null;

  @ApiProperty({
    description: `What the tool returned: any JSON of at most ${MAX_JSON} characters`,
    required: false,
    example: { booked: true },
  })
  @checked('result', jsonViolation)
  @whenGiven
  result?: JsonValue;

  @StringField({
    description:
      'When the agent called it, by default the arrival of the report. A time before the call or in the future counts as the arrival: clocks differ',
    format: 'date-time',
    example: '2026-11-21T06:37:42.758Z',
    maxLength: 64,
    optional: true,
  })
  @checked('moment', momentViolation)
  at?: string;
}
