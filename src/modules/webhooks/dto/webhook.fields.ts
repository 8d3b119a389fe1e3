import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import { checked } from '../../../platform/http/dto/fields.js';
import { WEBHOOK_EVENT_TYPES } from '../webhook-event.js';

/** A non-empty list of unique event types. */
export function EventTypesField({ optional = false }: { optional?: boolean } = {}): PropertyDecorator {
  const violation = (value: unknown): string | undefined => {
    if (!Array.isArray(value)) return 'must be an array';
    if (value.length === 0) return 'must name at least one type of event';
    const known: readonly unknown[] = WEBHOOK_EVENT_TYPES;
    if (!value.every((type) => known.includes(type))) return `must hold only ${WEBHOOK_EVENT_TYPES.join(', ')}`;
    return new Set(value).size < value.length ? 'must not name a type of event twice' : undefined;
  };
  return applyDecorators(
    ApiProperty({
      description: 'Event types to send',
      type: 'array',
      items: { type: 'string', enum: [...WEBHOOK_EVENT_TYPES] },
      minItems: 1,
      uniqueItems: true,
      required: !optional,
      example: ['run.completed', 'run.failed'],
    }),
    checked('eventTypes', violation),
    ...(optional ? [ValidateIf((_, value) => value !== undefined)] : []),
  );
}

/** Meaning and limits of each field of an endpoint, shared by requests and responses. */
export const webhookFields = {
  url: { description: 'Address that receives the events by POST', example: 'https://example.com/hooks/voice-tests' },
  description: { description: 'Free-text note', example: 'Team channel', maxLength: 255, nullable: true },
  format: {
    description:
      'What is sent: `standard`, the event as JSON, or `slack`, a message with one `text` that Slack, Mattermost and the Slack-compatible address of Discord show',
    example: 'standard',
  },
  links: {
    description:
      'Whether messages link to the page of the agent, which opens without an API key for 168 hours; only with `format` `slack`, and if `PUBLIC_URL` is set',
    example: false,
  },
  enabled: { description: 'Whether events are sent', example: true },
} as const;
