import { Module } from '@nestjs/common';
import { RunsModule } from '../runs/runs.module.js';
import { CaseHistoryRepository } from './case-history.repository.js';
import { CaseHistoryService } from './case-history.service.js';

@Module({
  imports: [RunsModule],
  providers: [CaseHistoryService, CaseHistoryRepository],
  exports: [CaseHistoryService],
})
export class CaseHistoryModule {}
