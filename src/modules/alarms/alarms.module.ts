import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AlarmNotifier } from './alarm-notifier.service.js';
import { AlarmsController } from './alarms.controller.js';
import { AlarmsRepository } from './alarms.repository.js';
import { AlarmsService } from './alarms.service.js';
import { LooksService } from './looks.service.js';

@Module({
  imports: [AgentsModule, WebhooksModule],
  controllers: [AlarmsController],
  providers: [AlarmsService, AlarmNotifier, LooksService, AlarmsRepository],
  exports: [LooksService],
})
export class AlarmsModule {}
