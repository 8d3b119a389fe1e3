import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapacityModule } from '../capacity/capacity.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { RejudgingModule } from '../rejudging/rejudging.module.js';
import { ToolCallsModule } from '../tool-calls/tool-calls.module.js';
import { CallImportsModule } from '../call-imports/call-imports.module.js';
import { AgentWords } from './agent-words.js';
import { CallConnections } from './call-connections.js';
import { CallExecutor } from './call-executor.js';
import { CallMetrics } from './call-metrics.js';
import { CallRunner } from './call-runner.js';
import { CallSweep } from './call-sweep.js';
import { CallerVoices } from './caller-voices.js';
import { Dispatcher } from './dispatcher.js';
import { ExecutionRepository } from './execution.repository.js';
import { ModelService } from './model.service.js';
import { ToolReports } from './tool-reports.js';
import { RunEndsModule } from '../run-ends/run-ends.module.js';

@Module({
  imports: [
    AgentsModule,
    CapacityModule,
    CallImportsModule,
    RecordingsModule,
    RejudgingModule,
    RunEndsModule,
    ToolCallsModule,
  ],
  providers: [
    Dispatcher,
    CallRunner,
    CallSweep,
    CallConnections,
    CallExecutor,
    CallMetrics,
    CallerVoices,
    AgentWords,
    ToolReports,
    ExecutionRepository,
    ModelService,
  ],
  exports: [ModelService],
})
export class ExecutionModule {}
