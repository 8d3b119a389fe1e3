import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { RecordingsModule } from '../recordings/recordings.module.js';
import { ResultsModule } from '../results/results.module.js';
import { AgentPagesController } from './agent-pages.controller.js';
import { AgentPagesRepository } from './agent-pages.repository.js';
import { AgentPagesService } from './agent-pages.service.js';
import { SharedPagesController } from './shared-pages.controller.js';

@Module({
  imports: [AgentsModule, RecordingsModule, ResultsModule],
  controllers: [AgentPagesController, SharedPagesController],
  providers: [AgentPagesService, AgentPagesRepository],
})
export class AgentPagesModule {}
