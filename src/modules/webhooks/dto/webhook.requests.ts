import { PartialType } from '@nestjs/swagger';
import { BooleanField, EnumField, StringField, UrlField } from '../../../platform/http/dto/fields.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../webhook-delivery.entity.js';
import { WEBHOOK_FORMATS, type WebhookFormat } from '../webhook-endpoint.entity.js';
import type { WebhookEventType } from '../webhook-event.js';
import { EventTypesField, webhookFields } from './webhook.fields.js';

export class CreateWebhookRequest {
  @UrlField(webhookFields.url)
  url: string;

  @EventTypesField()
  events: WebhookEventType[];

  @StringField({ ...webhookFields.description, optional: true })
  description?: string | null;

  @EnumField(WEBHOOK_FORMATS, { ...webhookFields.format, optional: true, default: 'standard' })
  format?: WebhookFormat;

  @BooleanField({ ...webhookFields.links, optional: true, default: false })
  links?: boolean;

  @BooleanField({ ...webhookFields.enabled, optional: true, default: true })
  enabled?: boolean;
}

export class UpdateWebhookRequest extends PartialType(CreateWebhookRequest, { skipNullProperties: false }) {}

export class ListDeliveriesQuery extends PageQuery {
  @EnumField(DELIVERY_STATUSES, { description: 'Only deliveries with this status', optional: true })
  status?: DeliveryStatus;
}
