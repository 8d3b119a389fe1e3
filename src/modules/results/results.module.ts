import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { RetentionModule } from '../retention/retention.module.js';
import { CallsModule } from '../calls/calls.module.js';
import { ComparisonModule } from '../comparison/comparison.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { RunEventsController } from './progress/run-events.controller.js';
import { RunEventsService } from './progress/run-events.service.js';
import { LinksService } from './report-links/links.service.js';
import { ReportLinksController } from './report-links/report-links.controller.js';
import { ReportLinksRepository } from './report-links/report-links.repository.js';
import { ReportLinksService } from './report-links/report-links.service.js';
import { SharedReportsController } from './report-links/shared-reports.controller.js';
import { ResultsController } from './results.controller.js';
import { ResultsService } from './results.service.js';

@Module({
  imports: [
    ApiKeysModule,
    RecordingsModule,
    RunsModule,
    CallsModule,
    ComparisonModule,
    RetentionModule,
    WebhooksModule,
  ],
  controllers: [RunEventsController, ResultsController, ReportLinksController, SharedReportsController],
  providers: [RunEventsService, ResultsService, LinksService, ReportLinksService, ReportLinksRepository],
  exports: [LinksService, ResultsService],
})
export class ResultsModule {}
