import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { ComparisonModule } from '../comparison/comparison.module.js';
import { RecordedCalls } from './recorded-calls.service.js';
import { RecordedCallsRepository } from './recorded-calls.repository.js';
import { RunsModule } from '../runs/runs.module.js';
import { StartsModule } from '../starts/starts.module.js';
import { DerivedRunsController } from './derived-runs.controller.js';
import { DerivedRunsRepository } from './derived-runs.repository.js';
import { DerivedRunsService } from './derived-runs.service.js';

@Module({
  imports: [AgentsModule, ComparisonModule, RecordingsModule, RunsModule, StartsModule],
  controllers: [DerivedRunsController],
  providers: [DerivedRunsService, DerivedRunsRepository, RecordedCalls, RecordedCallsRepository],
  exports: [RecordedCalls],
})
export class RejudgingModule {}
