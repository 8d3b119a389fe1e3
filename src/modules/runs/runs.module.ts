import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RunsController } from './runs.controller.js';
import { RunsRepository } from './runs.repository.js';
import { RunsService } from './runs.service.js';

@Module({
  imports: [AgentsModule],
  controllers: [RunsController],
  providers: [RunsService, RunsRepository],
  exports: [RunsService],
})
export class RunsModule {}
