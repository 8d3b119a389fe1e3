import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { PersonalitiesModule } from '../personalities/personalities.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AgentMetricsController } from './agent-metrics/agent-metrics.controller.js';
import { AgentMetricsRepository } from './agent-metrics/agent-metrics.repository.js';
import { AgentMetricsService } from './agent-metrics/agent-metrics.service.js';
import { CallsController } from './calls/calls.controller.js';
import { CallsRepository } from './calls/calls.repository.js';
import { CallsService } from './calls/calls.service.js';
import { BaselinesService } from './comparison/baselines.service.js';
import { ComparisonController } from './comparison/comparison.controller.js';
import { ComparisonRepository } from './comparison/comparison.repository.js';
import { ComparisonService } from './comparison/comparison.service.js';
import { DerivedRunsController } from './derived/derived-runs.controller.js';
import { DerivedRunsRepository } from './derived/derived-runs.repository.js';
import { DerivedRunsService } from './derived/derived-runs.service.js';
import { AgentWords } from './execution/agent-words.js';
import { CallExecutor } from './execution/call-executor.js';
import { CallMetrics } from './execution/call-metrics.js';
import { CallerVoices } from './execution/caller-voices.js';
import { ExecutionRepository } from './execution/execution.repository.js';
import { FinishRepository } from './execution/finish.repository.js';
import { RunFinisher } from './execution/run-finisher.js';
import { RunWorker } from './execution/run-worker.js';
import { UndecidedCalls } from './execution/undecided-calls.repository.js';
import { Lines } from './lines/lines.js';
import { LinesRepository } from './lines/lines.repository.js';
import { CallImportGate } from './imports/call-import.gate.js';
import { CallImportsController } from './imports/call-imports.controller.js';
import { CallImportsRepository } from './imported/call-imports.repository.js';
import { CallImportsService } from './imports/call-imports.service.js';
import { ImportReader } from './imports/import-reader.js';
import { ImportedCalls } from './imported/imported-calls.js';
import { RecordedCallsRepository } from './remeasure/recorded-calls.repository.js';
import { RecordedCalls } from './remeasure/recorded-calls.js';
import { AgentEraser } from './retention/agent-eraser.js';
import { RetentionRepository } from './retention/retention.repository.js';
import { RunDeletionService } from './retention/run-deletion.service.js';
import { RunPruner } from './retention/run-pruner.js';
import { TranscriptPruner } from './retention/transcript-pruner.js';
import { TranscriptsRepository } from './retention/transcripts.repository.js';
import { RunWatcher } from './run-watcher.service.js';
import { RunsController } from './runs.controller.js';
import { RunsRepository } from './runs.repository.js';
import { RunsService } from './runs.service.js';
import { StartRepository } from './start/start.repository.js';
import { RunStarterService } from './start/run-starter.service.js';

@Module({
  imports: [
    ApiKeysModule,
    AgentsModule,
    EvaluationsModule,
    PersonalitiesModule,
    RecordingsModule,
    WebhooksModule,
    WorkspacesModule,
  ],
  controllers: [
    RunsController,
    DerivedRunsController,
    CallsController,
    CallImportsController,
    ComparisonController,
    AgentMetricsController,
  ],
  providers: [
    RunsService,
    RunsRepository,
    RunStarterService,
    StartRepository,
    DerivedRunsService,
    DerivedRunsRepository,
    RecordedCalls,
    RecordedCallsRepository,
    CallImportGate,
    ImportReader,
    CallImportsService,
    CallImportsRepository,
    ImportedCalls,
    RunWorker,
    RunFinisher,
    FinishRepository,
    CallExecutor,
    CallMetrics,
    CallerVoices,
    AgentWords,
    ExecutionRepository,
    UndecidedCalls,
    Lines,
    LinesRepository,
    RunWatcher,
    CallsService,
    CallsRepository,
    ComparisonService,
    ComparisonRepository,
    BaselinesService,
    RunDeletionService,
    RunPruner,
    TranscriptPruner,
    TranscriptsRepository,
    AgentEraser,
    RetentionRepository,
    AgentMetricsService,
    AgentMetricsRepository,
  ],
  exports: [RunsService, RunWatcher, CallsService, ComparisonService, RunDeletionService],
})
export class RunsModule {}
