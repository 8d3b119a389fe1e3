import { Controller, Param, Post } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { WebhookDelivery } from './dto/webhook.responses.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';

@Controller('workspace/webhook-deliveries')
export class WebhookDeliveriesController {
  constructor(private readonly service: WebhookDeliveriesService) {}

  @Operation({
    summary: 'Redeliver an event',
    description:
      'Restarts the schedule of attempts now, with the same `webhook-id`, even if the webhook is disabled. ' +
      'Returns 409 while the delivery is pending.',
    tag: 'Webhooks',
    access: 'ADMIN',
    path: { id: 'Identifier of the delivery' },
    response: { shape: 'data', type: WebhookDelivery, message: 'Delivery queued successfully' },
    errors: ['CONFLICT'],
  })
  @Post(':id/redeliver')
  redeliverWebhook(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookDelivery> {
    return this.service.redeliver(caller, id);
  }
}
