import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { StartsModule } from '../starts/starts.module.js';
import { DefaultEvaluation } from './default-evaluation.js';
import { ProductionDaysRepository } from './production-days.repository.js';
import { ProductionDays } from './production-days.service.js';

@Module({
  imports: [AgentsModule, EvaluationsModule, ExecutionModule, PersonalitiesModule, RunsModule, StartsModule],
  providers: [ProductionDays, ProductionDaysRepository, DefaultEvaluation],
  exports: [ProductionDays],
})
export class ProductionDaysModule {}
