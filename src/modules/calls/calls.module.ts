import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { CallsController } from './calls.controller.js';
import { CallsRepository } from './calls.repository.js';
import { CallsService } from './calls.service.js';

@Module({
  imports: [AgentsModule, RunsModule],
  controllers: [CallsController],
  providers: [CallsService, CallsRepository],
  exports: [CallsService],
})
export class CallsModule {}
