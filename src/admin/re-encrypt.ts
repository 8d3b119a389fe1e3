import type { DataSource } from 'typeorm';
import { agentSecretPurpose } from '../modules/agents/agent.entity.js';
import { connectionSecretsPurpose } from '../modules/agents/connection/agent-connection.entity.js';
import { handlePurpose } from '../modules/capacity/platform-call.entity.js';
import { providerKeyPurpose } from '../modules/provider-keys/provider-key.entity.js';
import { webhookSecretPurpose } from '../modules/webhooks/webhook-endpoint.entity.js';
import { renewCanary } from '../platform/encryption/canary.js';
import type { KeyRing } from '../platform/encryption/key-ring.js';
import { responsePurpose } from '../platform/idempotency/idempotency.interceptor.js';
import * as sql from './re-encrypt.sql.js';

/** A column of ciphertexts, and the purpose that each of them is bound to. */
interface EncryptedColumn {
  readonly table: string;
  readonly column: string;
  readonly purpose: (row: Readonly<Record<string, string>>) => string;
}

/** Every column that holds secrets. A new one must be added here, or a key rotation would miss it. */
export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  { table: 'agents', column: 'api_key', purpose: (row) => agentSecretPurpose(row['id'] ?? '', 'apiKey') },
  { table: 'agents', column: 'webhook_secret', purpose: (row) => agentSecretPurpose(row['id'] ?? '', 'webhookSecret') },
  { table: 'agent_connections', column: 'secrets', purpose: (row) => connectionSecretsPurpose(row['agent_id'] ?? '') },
  {
    table: 'provider_keys',
    column: 'api_key',
    purpose: (row) => providerKeyPurpose(row['workspace_id'] ?? '', row['provider'] ?? ''),
  },
  {
    table: 'webhook_endpoints',
    column: 'secret',
    purpose: (row) => webhookSecretPurpose(row['id'] ?? '', 'secret'),
  },
  {
    table: 'webhook_endpoints',
    column: 'previous_secret',
    purpose: (row) => webhookSecretPurpose(row['id'] ?? '', 'previousSecret'),
  },
  { table: 'platform_calls', column: 'handle', purpose: (row) => handlePurpose(row['claim_id'] ?? '') },
  { table: 'idempotency_keys', column: 'response', purpose: (row) => responsePurpose(row['id'] ?? '') },
];

const BATCH = 500;

/** Number of secrets by the id of their key; null stands for values that are not encrypted. */
export type SecretCounts = ReadonlyMap<string | null, number>;

/**
 * Re-encrypts every stored secret that is under another known key with the first one, in small transactions, while the
 * service runs. If interrupted, the next run continues where it stopped.
 * @returns what was found before, the number of secrets re-encrypted, and what is left that the first key does not decrypt
 */
export async function reEncrypt(
  dataSource: DataSource,
  keyRing: KeyRing,
  progress: (done: number, total: number) => void,
): Promise<{ found: SecretCounts; done: number; left: SecretCounts }> {
  const [first, ...older] = keyRing.ids;
  const found = await countSecrets(dataSource);
  const total = older.reduce((sum, id) => sum + (found.get(id) ?? 0), 0);
  let done = 0;
  for (const encrypted of ENCRYPTED_COLUMNS) {
    for (let count = -1; count !== 0;) {
      count = await reEncryptBatch(dataSource, keyRing, encrypted, older);
      done += count;
      if (count > 0) progress(done, total);
    }
  }
  const left = new Map([...(await countSecrets(dataSource))].filter(([id]) => id !== first));
  // Only then do processes with nothing but the first key start.
  if (left.size === 0) await renewCanary(dataSource, keyRing);
  return { found, done, left };
}

async function countSecrets(dataSource: DataSource): Promise<SecretCounts> {
  const counts = new Map<string | null, number>();
  for (const encrypted of ENCRYPTED_COLUMNS) {
    const rows = await dataSource.query<{ keyId: string | null; count: number }[]>(sql.countByKey(encrypted));
    for (const { keyId, count } of rows) counts.set(keyId, (counts.get(keyId) ?? 0) + count);
  }
  return counts;
}

async function reEncryptBatch(
  dataSource: DataSource,
  keyRing: KeyRing,
  encrypted: EncryptedColumn,
  olderIds: readonly string[],
): Promise<number> {
  const { column, purpose } = encrypted;
  return dataSource.transaction(async (manager) => {
    const rows = await manager.query<Record<string, string>[]>(sql.lockOutdated(encrypted), [olderIds, BATCH]);
    if (rows.length === 0) return 0;
    const ciphertexts = rows.map((row) =>
      keyRing.encrypt(keyRing.decrypt(row[column] ?? '', purpose(row)), purpose(row)),
    );
    await manager.query(sql.replaceCiphertexts(encrypted), [rows.map((row) => row['row_id']), ciphertexts]);
    return rows.length;
  });
}
