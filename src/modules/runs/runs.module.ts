import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { RunWatcher } from './run-watcher.service.js';
import { RunsController } from './runs.controller.js';
import { RunsRepository } from './runs.repository.js';
import { RunsService } from './runs.service.js';

@Module({
  imports: [AgentsModule, ApiKeysModule, RecordingsModule],
  controllers: [RunsController],
  providers: [RunsService, RunsRepository, RunWatcher],
  exports: [RunsService, RunWatcher],
})
export class RunsModule {}
