import type { DataSource } from 'typeorm';
import { agentSecretPurpose } from '../modules/agents/agent.entity.js';
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
  { table: 'idempotency_keys', column: 'response', purpose: (row) => responsePurpose(row['id'] ?? '') },
];

const BATCH = 500;

/**
 * Re-encrypts every stored secret that is not encrypted with the first key, in small transactions, while the service
 * runs. If interrupted, the next run continues where it stopped.
 * @returns the number of secrets re-encrypted
 */
export async function reEncrypt(
  dataSource: DataSource,
  keyRing: KeyRing,
  progress: (done: number, total: number) => void,
): Promise<number> {
  const current = `${keyRing.firstId}.`;
  let total = 0;
  for (const encrypted of ENCRYPTED_COLUMNS) {
    const [row] = await dataSource.query<{ count: number }[]>(sql.countOutdated(encrypted), [current]);
    total += row?.count ?? 0;
  }
  let done = 0;
  for (const encrypted of ENCRYPTED_COLUMNS) {
    for (let count = -1; count !== 0;) {
      count = await reEncryptBatch(dataSource, keyRing, encrypted, current);
      done += count;
      if (count > 0) progress(done, total);
    }
  }
  await renewCanary(dataSource, keyRing);
  return done;
}

async function reEncryptBatch(
  dataSource: DataSource,
  keyRing: KeyRing,
  encrypted: EncryptedColumn,
  current: string,
): Promise<number> {
  const { column, purpose } = encrypted;
  return dataSource.transaction(async (manager) => {
    const rows = await manager.query<Record<string, string>[]>(sql.lockOutdated(encrypted), [current, BATCH]);
    if (rows.length === 0) return 0;
    const ciphertexts = rows.map((row) =>
      keyRing.encrypt(keyRing.decrypt(row[column] ?? '', purpose(row)), purpose(row)),
    );
    await manager.query(sql.replaceCiphertexts(encrypted), [rows.map((row) => row['row_id']), ciphertexts]);
    return rows.length;
  });
}
