import { Module } from '@nestjs/common';
import { ProviderKeysModule } from '../provider-keys/provider-keys.module.js';
import { AgentSecrets } from './agent-secrets.js';
import { AgentsController } from './agents.controller.js';
import { AgentsRepository } from './agents.repository.js';
import { AgentsService } from './agents.service.js';
import { ConnectionController } from './connection/connection.controller.js';
import { ConnectionRepository } from './connection/connection.repository.js';
import { ConnectionService } from './connection/connection.service.js';

@Module({
  imports: [ProviderKeysModule],
  controllers: [AgentsController, ConnectionController],
  providers: [AgentsService, AgentsRepository, AgentSecrets, ConnectionService, ConnectionRepository],
  exports: [AgentsService, ConnectionService],
})
export class AgentsModule {}
