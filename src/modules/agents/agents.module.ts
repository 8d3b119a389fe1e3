import { Module } from '@nestjs/common';
import { IdempotencyRepository } from '../../platform/idempotency/idempotency.repository.js';
import { CapacityModule } from '../capacity/capacity.module.js';
import { ProviderKeysModule } from '../provider-keys/provider-keys.module.js';
import { AgentSecrets } from './agent-secrets.js';
import { AgentsController } from './agents.controller.js';
import { AgentsRepository } from './agents.repository.js';
import { AgentsService } from './agents.service.js';
import { AssistantsController } from './assistants/assistants.controller.js';
import { AssistantsService } from './assistants/assistants.service.js';
import { ConnectionTestPolicy } from './connection/connection-test-policy.js';
import { ConnectionTestRepository } from './connection/connection-test.repository.js';
import { ConnectionTestService } from './connection/connection-test.service.js';
import { ConnectionController } from './connection/connection.controller.js';
import { ConnectionRepository } from './connection/connection.repository.js';
import { ConnectionService } from './connection/connection.service.js';
import { DiallingService } from './connection/dialling.service.js';
import { ErasedAgentsRepository } from './erased-agents.repository.js';
import { ErasedAgentsService } from './erased-agents.service.js';

@Module({
  imports: [CapacityModule, ProviderKeysModule],
  controllers: [AgentsController, ConnectionController, AssistantsController],
  providers: [
    AgentsService,
    AgentsRepository,
    AgentSecrets,
    ErasedAgentsService,
    ErasedAgentsRepository,
    IdempotencyRepository,
    ConnectionService,
    ConnectionRepository,
    DiallingService,
    ConnectionTestService,
    ConnectionTestRepository,
    ConnectionTestPolicy,
    AssistantsService,
  ],
  exports: [AgentsService, ConnectionService, DiallingService, ErasedAgentsService],
})
export class AgentsModule {}
