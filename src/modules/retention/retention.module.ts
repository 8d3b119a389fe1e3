import { Module } from '@nestjs/common';
import { IdempotencyRepository } from '../../platform/idempotency/idempotency.repository.js';
import { AgentsModule } from '../agents/agents.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { CaseHistoryModule } from '../case-history/case-history.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AgentEraser } from './agent-eraser.js';
import { RetentionController } from './retention.controller.js';
import { RetentionRepository } from './retention.repository.js';
import { RunDeletionService } from './run-deletion.service.js';
import { RunPruner } from './run-pruner.js';
import { TranscriptPruner } from './transcript-pruner.js';
import { TranscriptsRepository } from './transcripts.repository.js';

@Module({
  imports: [AgentsModule, CaseHistoryModule, EvaluationsModule, RecordingsModule, RunsModule, WebhooksModule],
  controllers: [RetentionController],
  providers: [
    IdempotencyRepository,
    RunDeletionService,
    RunPruner,
    TranscriptPruner,
    TranscriptsRepository,
    AgentEraser,
    RetentionRepository,
  ],
  exports: [RunDeletionService],
})
export class RetentionModule {}
