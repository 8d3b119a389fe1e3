import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { MessageLinksService } from './message-links.service.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookPolicy } from './webhook-policy.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookWorker } from './webhook-worker.js';

@Module({
  imports: [AgentsModule],
  controllers: [WebhooksController, WebhookDeliveriesController],
  providers: [
    WebhooksService,
    WebhookEndpointsService,
    WebhookEndpointsRepository,
    WebhookDeliveriesService,
    WebhookDeliveriesRepository,
    WebhookSender,
    WebhookWorker,
    WebhookPolicy,
    MessageLinksService,
  ],
  exports: [WebhooksService, MessageLinksService],
})
export class WebhooksModule {}
