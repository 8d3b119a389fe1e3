import { Module } from '@nestjs/common';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AlarmsModule } from '../alarms/alarms.module.js';
import { CaseHistoryModule } from '../case-history/case-history.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { ComparisonModule } from '../comparison/comparison.module.js';
import { SchedulesModule } from '../schedules/schedules.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { FinishRepository } from './finish.repository.js';
import { RunFinisher } from './run-finisher.service.js';

@Module({
  imports: [
    AlarmsModule,
    CaseHistoryModule,
    ComparisonModule,
    EvaluationsModule,
    RecordingsModule,
    RunsModule,
    SchedulesModule,
    WebhooksModule,
    WorkspacesModule,
  ],
  providers: [RunFinisher, FinishRepository],
  exports: [RunFinisher],
})
export class RunEndsModule {}
