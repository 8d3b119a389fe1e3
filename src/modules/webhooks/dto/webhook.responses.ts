import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  StringField,
  TimestampField,
  UrlField,
} from '../../../platform/http/dto/fields.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';
import {
  DISABLED_REASONS,
  type DisabledReason,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '../webhook-endpoint.entity.js';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../webhook-event.js';
import { EventTypesField, webhookFields } from './webhook.fields.js';

/** A webhook endpoint in responses; never with its secret. */
export class Webhook {
  @IdField({ kind: 'webhook', description: 'Identifier' })
  id: string;

  @UrlField(webhookFields.url)
  url: string;

  @StringField(webhookFields.description)
  description: string | null;

  @EventTypesField()
  events: WebhookEventType[];

  @EnumField(WEBHOOK_FORMATS, webhookFields.format)
  format: WebhookFormat;

  @BooleanField(webhookFields.links)
  links: boolean;

  @BooleanField(webhookFields.enabled)
  enabled: boolean;

  @EnumField(DISABLED_REASONS, {
    description:
      'Why the service disabled it: `GONE` after a 410 response, `FAILING` after five days without success; otherwise null',
    nullable: true,
    example: null,
  })
  disabledReason: DisabledReason | null;

  @TimestampField({ description: 'When it was disabled', nullable: true, example: null })
  disabledAt: string | null;

  @TimestampField({ description: 'First failed attempt since the last success', nullable: true, example: null })
  failingSince: string | null;

  @IdField({ kind: 'user', description: 'User that created it' })
  createdByUserId: string;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;

  @TimestampField({ description: 'When it was last changed' })
  updatedAt: string;
}

/** Response with a new secret, which is not shown again. */
export class WebhookWithSecret extends Webhook {
  @StringField({
    description: 'Secret that signs the events (Standard Webhooks); only shown in this response',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
    maxLength: 255,
  })
  secret: string;
}

/** One attempt at a delivery. */
export class WebhookAttempt {
  @TimestampField({ description: 'When it started' })
  time: string;

  @IntegerField({
    description: "Status code of the receiver's response; null if there was none",
    nullable: true,
    example: 200,
  })
  responseStatus: number | null;

  @IntegerField({ description: 'Duration in milliseconds', minimum: 0, example: 120 })
  durationMs: number;

  @StringField({
    description: "Why it failed, with the receiver's answer; null if it succeeded",
    maxLength: 255,
    nullable: true,
    example: null,
  })
  error: string | null;
}

/** The delivery of an event to an endpoint. */
export class WebhookDelivery {
  @IdField({ kind: 'webhookDelivery', description: 'Identifier' })
  id: string;

  @IdField({ kind: 'webhookEvent', description: 'Identifier of the event: the `webhook-id` of every attempt' })
  eventId: string;

  @EnumField(WEBHOOK_EVENT_TYPES, { description: 'Type of the event', example: 'run.completed' })
  eventType: WebhookEventType;

  @EnumField(DELIVERY_STATUSES, { description: 'Status', example: 'DELIVERED' })
  status: DeliveryStatus;

  @ApiProperty({ type: [WebhookAttempt], description: 'Attempts so far, oldest first; the latest fifty' })
  attempts: WebhookAttempt[];

  @TimestampField({
    description: 'When the next attempt is due; null if there is none',
    nullable: true,
    example: null,
  })
  nextAttemptAt: string | null;

  @TimestampField({ description: 'When the event was sent' })
  createdAt: string;
}
