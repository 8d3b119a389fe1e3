import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { checked } from './fields.js';

const isMoment = (value: string): boolean =>
  ISO_TIME.test(value) && isOnCalendar(value.slice(0, 10)) && !isNaN(Date.parse(value));

/** Whether a text is a date and time of ISO 8601 with a time zone. */
export const isDateAndTime = (value: string): boolean => value.includes('T') && isMoment(value);

const momentViolation = (value: unknown): string | undefined =>
  typeof value === 'string' && isMoment(value)
    ? undefined
    : 'must be a date, or a date and time with a time zone, such as 2026-11-21 or 2026-11-21T06:37:42.758Z';
/** Date.parse reads 30 February as 2 March. */
const isOnCalendar = (day: string): boolean => !isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** An optional date, or date and time of ISO 8601, in a query. */
export function MomentField(description: string, example: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      description,
      required: false,
      type: 'string',
      maxLength: 64,
      pattern: ISO_TIME.source,
      example,
    }),
    checked('moment', momentViolation),
    ValidateIf((_, value) => value !== undefined),
  );
}
