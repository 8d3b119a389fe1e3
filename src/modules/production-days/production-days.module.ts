import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CaseHistoryModule } from '../case-history/case-history.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { ExecutionModule } from '../execution/execution.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { StartsModule } from '../starts/starts.module.js';
import { DefaultEvaluation } from './default-evaluation.js';
import { ProductionDaysRepository } from './production-days.repository.js';
import { ProductionDays } from './production-days.service.js';

@Module({
  imports: [
    AgentsModule,
    CaseHistoryModule,
    EvaluationsModule,
    ExecutionModule,
    PersonalitiesModule,
    RecordingsModule,
    StartsModule,
  ],
  providers: [ProductionDays, ProductionDaysRepository, DefaultEvaluation],
  exports: [ProductionDays],
})
export class ProductionDaysModule {}
