import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import type { Role } from '../../src/platform/access/caller.js';
import type { TestApp } from './test-app.js';

/** Creates an additional key for a workspace. */
export async function createKey(
  app: TestApp,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  role: Role = 'EDITOR',
): Promise<{ id: string; value: string }> {
  const { apiKey, value } = await app.nest
    .get(ApiKeysService)
    .create({ workspaceId, userId, name: `A key to test ${role}`, role });
  return { id: apiKey.id, value };
}
