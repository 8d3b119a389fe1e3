import { DataSource } from 'typeorm';
import { AgentEntity } from './src/modules/agents/agent.entity.js';
import { ApiKeyEntity } from './src/modules/api-keys/api-key.entity.js';
import { EvaluationEntity } from './src/modules/evaluations/evaluation.entity.js';
import { PersonalityEntity } from './src/modules/personalities/personality.entity.js';
import { ProviderKeyEntity } from './src/modules/provider-keys/provider-key.entity.js';
import { CallEntity } from './src/modules/runs/call.entity.js';
import { CallResultEntity } from './src/modules/runs/call-result.entity.js';
import { RunEntity } from './src/modules/runs/run.entity.js';
import { RunEvaluationEntity } from './src/modules/runs/run-evaluation.entity.js';
import { WebhookDeliveryEntity } from './src/modules/webhooks/webhook-delivery.entity.js';
import { WebhookEndpointEntity } from './src/modules/webhooks/webhook-endpoint.entity.js';
import { WebhookEventEntity } from './src/modules/webhooks/webhook-event.entity.js';
import { UserEntity } from './src/modules/workspaces/user.entity.js';
import { WorkspaceEntity } from './src/modules/workspaces/workspace.entity.js';
import { connectionOptions } from './src/platform/database/data-source-options.js';
import { Initial1732000000000 } from './src/platform/database/migrations/1732000000000-initial.js';
import { EvaluationAuthoring1732100000000 } from './src/platform/database/migrations/1732100000000-evaluation-authoring.js';
import { Webhooks1732200000000 } from './src/platform/database/migrations/1732200000000-webhooks.js';
import { RunExecution1732300000000 } from './src/platform/database/migrations/1732300000000-run-execution.js';
import { Growth1732400000000 } from './src/platform/database/migrations/1732400000000-growth.js';
import { ClaimsInBatches1732500000000 } from './src/platform/database/migrations/1732500000000-claims-in-batches.js';
import { EncryptionCanaryEntity } from './src/platform/encryption/canary.entity.js';
import { IdempotencyEntity } from './src/platform/idempotency/idempotency.entity.js';
import { QueueWorkerEntity } from './src/platform/queue/queue-worker.entity.js';

/**
 * The one data source of the project: the service, the administrator's command and TypeORM's own command line all
 * come here. Tables change by migrations only.
 * @param url PostgreSQL connection string
 * @param poolSize most connections of this process
 */
export function createDataSource(url: string, poolSize = 20): DataSource {
  return new DataSource({
    ...connectionOptions(url, poolSize),
    entities: [
      WorkspaceEntity,
      UserEntity,
      ApiKeyEntity,
      ProviderKeyEntity,
      AgentEntity,
      PersonalityEntity,
      EvaluationEntity,
      RunEntity,
      RunEvaluationEntity,
      CallEntity,
      CallResultEntity,
      WebhookEndpointEntity,
      WebhookEventEntity,
      WebhookDeliveryEntity,
      QueueWorkerEntity,
      IdempotencyEntity,
      EncryptionCanaryEntity,
    ],
    migrations: [
      Initial1732000000000,
      EvaluationAuthoring1732100000000,
      Webhooks1732200000000,
      RunExecution1732300000000,
      Growth1732400000000,
      ClaimsInBatches1732500000000,
    ],
  });
}

/** For `typeorm migration:generate` and its like, with the address in DATABASE_URL. */
export default createDataSource(process.env['DATABASE_URL'] ?? 'postgresql://localhost/postgres');
