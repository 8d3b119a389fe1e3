import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CaseHistoryModule } from '../case-history/case-history.module.js';
import { StartsModule } from '../starts/starts.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AgentVersionService } from './agent-version.service.js';
import { HeartbeatService } from './heartbeat.service.js';
import { ScheduleStarter } from './schedule-starter.service.js';
import { SchedulesController } from './schedules.controller.js';
import { SchedulesRepository } from './schedules.repository.js';
import { SchedulesService } from './schedules.service.js';

@Module({
  imports: [AgentsModule, CaseHistoryModule, StartsModule, WebhooksModule],
  controllers: [SchedulesController],
  providers: [SchedulesService, ScheduleStarter, AgentVersionService, HeartbeatService, SchedulesRepository],
  exports: [HeartbeatService],
})
export class SchedulesModule {}
