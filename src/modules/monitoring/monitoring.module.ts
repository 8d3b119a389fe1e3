import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapacityModule } from '../capacity/capacity.module.js';
import { ProductionDaysModule } from '../production-days/production-days.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { CallFetcher } from './call-fetcher.service.js';
import { MonitoringController } from './monitoring.controller.js';
import { MonitoringRepository } from './monitoring.repository.js';
import { SoundFetcher } from './sound-fetcher.service.js';
import { MonitoringService } from './monitoring.service.js';

@Module({
  imports: [AgentsModule, CapacityModule, WebhooksModule, ProductionDaysModule, RecordingsModule],
  controllers: [MonitoringController],
  providers: [MonitoringService, MonitoringRepository, CallFetcher, SoundFetcher],
})
export class MonitoringModule {}
