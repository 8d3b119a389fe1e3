import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { CreateWebhookRequest, ListDeliveriesQuery, UpdateWebhookRequest } from './dto/webhook.requests.js';
import { Webhook, WebhookDelivery, WebhookWithSecret } from './dto/webhook.responses.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

const tag = 'Webhooks';
const access = 'ADMIN';
const path = { id: 'Identifier of the webhook' };

@Controller('workspace/webhooks')
export class WebhooksController {
  constructor(
    private readonly service: WebhookEndpointsService,
    private readonly deliveries: WebhookDeliveriesService,
  ) {}

  @Operation({
    summary: 'Create a webhook',
    description: 'The signing secret is only shown in this response.',
    tag,
    access,
    body: {
      type: CreateWebhookRequest,
      example: { url: 'https://example.com/hooks/voice-tests', events: ['run.completed', 'run.failed'] },
    },
    response: {
      shape: 'data',
      type: WebhookWithSecret,
      showsSecretOnce: true,
      message: 'Webhook created successfully',
      status: 201,
    },
  })
  @Post()
  createWebhook(@CurrentCaller() caller: Caller, @Body() body: CreateWebhookRequest): Promise<WebhookWithSecret> {
    return this.service.create(caller, body);
  }

  @Operation({
    summary: 'List webhooks',
    description: 'Sorted newest first.',
    tag,
    access,
    query: true,
    response: { shape: 'page', type: Webhook, message: 'Webhooks retrieved successfully' },
  })
  @Get()
  listWebhooks(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<Page<Webhook>> {
    return this.service.list(caller, query);
  }

  @Operation({
    summary: 'Get a webhook',
    description: 'Does not return the secret. `enabled` and `disabledReason` show whether events are still sent.',
    tag,
    access,
    path,
    response: { shape: 'data', type: Webhook, message: 'Webhook retrieved successfully' },
  })
  @Get(':id')
  getWebhook(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<Webhook> {
    return this.service.get(caller, id);
  }

  @Operation({
    summary: 'Update a webhook',
    description: 'Changes the given fields. Disabling cancels pending deliveries; enabling resets the failure count.',
    tag,
    access,
    path,
    body: { type: UpdateWebhookRequest, example: { enabled: true } },
    response: { shape: 'data', type: Webhook, message: 'Webhook updated successfully' },
  })
  @Patch(':id')
  updateWebhook(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: UpdateWebhookRequest,
  ): Promise<Webhook> {
    return this.service.update(caller, id, body);
  }

  @Operation({
    summary: 'Delete a webhook',
    description: 'Also deletes its deliveries.',
    tag,
    access,
    path,
    response: { shape: 'message', message: 'Webhook deleted successfully' },
  })
  @Delete(':id')
  deleteWebhook(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    return this.service.delete(caller, id);
  }

  @Operation({
    summary: 'Rotate the secret of a webhook',
    description:
      'The new secret is only shown in this response. Events are signed with the old one as well for 24 hours.',
    tag,
    access,
    path,
    response: {
      shape: 'data',
      type: WebhookWithSecret,
      showsSecretOnce: true,
      message: 'Webhook secret rotated successfully',
    },
  })
  @Post(':id/rotate-secret')
  rotateWebhookSecret(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookWithSecret> {
    return this.service.rotateSecret(caller, id);
  }

  @Operation({
    summary: 'Test a webhook',
    description:
      'Sends a `webhook.test` event now, even if the webhook is disabled, and returns the delivery: after its ' +
      'first attempt if that ends within a few seconds, otherwise as `PENDING`.',
    tag,
    access,
    path,
    response: { shape: 'data', type: WebhookDelivery, message: 'Test event sent successfully', status: 201 },
  })
  @Post(':id/test')
  testWebhook(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookDelivery> {
    return this.deliveries.test(caller, id);
  }

  @Operation({
    summary: 'List deliveries of a webhook',
    description:
      'Newest first. Ended deliveries are kept for 30 days, unless the service is configured otherwise (`DELIVERY_RETENTION_DAYS`).',
    tag,
    access,
    path,
    query: true,
    response: { shape: 'page', type: WebhookDelivery, message: 'Deliveries retrieved successfully' },
  })
  @Get(':id/deliveries')
  listWebhookDeliveries(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: ListDeliveriesQuery,
  ): Promise<Page<WebhookDelivery>> {
    return this.deliveries.list(caller, id, query);
  }
}
