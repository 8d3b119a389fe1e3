import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { CaseHistoryController } from './case-history.controller.js';
import { CaseHistoryRepository } from './case-history.repository.js';
import { CaseHistoryService } from './case-history.service.js';

@Module({
  imports: [AgentsModule, RunsModule],
  controllers: [CaseHistoryController],
  providers: [CaseHistoryService, CaseHistoryRepository],
  exports: [CaseHistoryService],
})
export class CaseHistoryModule {}
