import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  StringField,
  TimestampField,
  UrlField,
} from '../../../platform/http/fields.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';
import { DISABLED_REASONS, type DisabledReason } from '../webhook-endpoint.entity.js';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../webhook-event.js';
import { EventTypesField, webhookFields } from './webhook.fields.js';

/** A webhook endpoint as it is answered; never with its secret. */
export class Webhook {
  @IdField({ kind: 'webhook', description: 'Identifier' })
  id: string;

  @UrlField(webhookFields.url)
  url: string;

  @StringField(webhookFields.description)
  description: string | null;

  @EventTypesField()
  events: WebhookEventType[];

  @BooleanField(webhookFields.enabled)
  enabled: boolean;

  @EnumField(DISABLED_REASONS, {
    description:
      'Why the service disabled it: `GONE` after an answer 410, `FAILING` after five days without success; null otherwise',
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

/** The answer that shows a new secret, this once. */
export class WebhookWithSecret extends Webhook {
  @StringField({
    description: 'Secret that signs the events (Standard Webhooks); shown only now',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
    maxLength: 255,
  })
  secret: string;
}

/** One attempt at a delivery. */
export class WebhookAttempt {
  @TimestampField({ description: 'When it began' })
  time: string;

  @IntegerField({ description: "Status of the receiver's answer; null when none came", nullable: true, example: 200 })
  responseStatus: number | null;

  @IntegerField({ description: 'How long it took, in milliseconds', minimum: 0, example: 120 })
  durationMs: number;

  @StringField({ description: 'Why it failed; null when it succeeded', maxLength: 255, nullable: true, example: null })
  error: string | null;
}

/** An event on its way to an endpoint. */
export class WebhookDelivery {
  @IdField({ kind: 'webhookDelivery', description: 'Identifier' })
  id: string;

  @IdField({ kind: 'webhookEvent', description: 'Identifier of the event: the `webhook-id` of every attempt' })
  eventId: string;

  @EnumField(WEBHOOK_EVENT_TYPES, { description: 'Type of the event', example: 'run.completed' })
  eventType: WebhookEventType;

  @EnumField(DELIVERY_STATUSES, { description: 'State', example: 'DELIVERED' })
  status: DeliveryStatus;

  @ApiProperty({ type: [WebhookAttempt], description: 'Attempts so far, oldest first; the latest fifty' })
  attempts: WebhookAttempt[];

  @TimestampField({
    description: 'When the next attempt is due; null when there is none',
    nullable: true,
    example: null,
  })
  nextAttemptAt: string | null;

  @TimestampField({ description: 'When the event was sent' })
  createdAt: string;
}
