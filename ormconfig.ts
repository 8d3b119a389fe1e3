import { DataSource } from 'typeorm';
import { AgentEntity } from './src/modules/agents/agent.entity.js';
import { ApiKeyEntity } from './src/modules/api-keys/api-key.entity.js';
import { EvaluationEntity } from './src/modules/evaluations/evaluation.entity.js';
import { PersonalityEntity } from './src/modules/personalities/personality.entity.js';
import { ProviderKeyEntity } from './src/modules/provider-keys/provider-key.entity.js';
import { RunEntity } from './src/modules/runs/run.entity.js';
import { UserEntity } from './src/modules/workspaces/user.entity.js';
import { WorkspaceEntity } from './src/modules/workspaces/workspace.entity.js';
import { connectionOptions } from './src/platform/database/data-source-options.js';
import { Initial1732000000000 } from './src/platform/database/migrations/1732000000000-initial.js';
import { EncryptionCanaryEntity } from './src/platform/encryption/canary.entity.js';
import { IdempotencyEntity } from './src/platform/idempotency/idempotency.entity.js';

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
      IdempotencyEntity,
      EncryptionCanaryEntity,
    ],
    migrations: [Initial1732000000000],
  });
}

/** For `typeorm migration:generate` and its like, with the address in DATABASE_URL. */
export default createDataSource(process.env['DATABASE_URL'] ?? 'postgresql://localhost/postgres');
