import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { AgentMetricsController } from './agent-metrics.controller.js';
import { AgentMetricsRepository } from './agent-metrics.repository.js';
import { AgentMetricsService } from './agent-metrics.service.js';
import { BaselinesService } from './baselines.service.js';
import { ComparisonController } from './comparison.controller.js';
import { ComparisonRepository } from './comparison.repository.js';
import { ComparisonService } from './comparison.service.js';

@Module({
  imports: [AgentsModule, RunsModule],
  controllers: [ComparisonController, AgentMetricsController],
  providers: [ComparisonService, ComparisonRepository, BaselinesService, AgentMetricsService, AgentMetricsRepository],
  exports: [ComparisonService, BaselinesService],
})
export class ComparisonModule {}
