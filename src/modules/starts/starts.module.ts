import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapacityModule } from '../capacity/capacity.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { ComparisonModule } from '../comparison/comparison.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { RunWriterService } from './run-writer.service.js';
import { RunStarterService } from './run-starter.service.js';
import { StartRepository } from './start.repository.js';
import { StartsController } from './starts.controller.js';

@Module({
  imports: [AgentsModule, CapacityModule, ComparisonModule, EvaluationsModule, PersonalitiesModule, RunsModule],
  controllers: [StartsController],
  providers: [RunStarterService, RunWriterService, StartRepository],
  exports: [RunStarterService, RunWriterService],
})
export class StartsModule {}
