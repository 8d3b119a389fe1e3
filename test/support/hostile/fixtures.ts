import { randomUUID } from 'node:crypto';
import { ApiKeysService } from '../../../src/modules/api-keys/api-keys.service.js';
import { HttpClient } from '../http.js';
import { collectionOf, collections, createWithChildren, type Service, type WorkspaceWithKey } from '../resources.js';
import type { TestApp } from '../test-app.js';
import type { CallerName, IdKind } from './requests.js';

/** The id of one member of each collection. */
type Ids = Record<string, string>;

/** Two workspaces with one member of each collection, and keys of every role. */
export class Fixtures {
  private constructor(
    private readonly service: Service,
    private readonly keys: Readonly<Record<CallerName, string | undefined>>,
    private readonly workspace: WorkspaceWithKey,
    private readonly ids: Ids,
    private readonly foreign: Ids,
    private readonly deleted: Ids,
  ) {}

  /** @param deletable collections with a DELETE operation */
  static async create(app: TestApp, deletable: readonly string[]): Promise<Fixtures> {
    const workspace = await app.createWorkspace();
    const otherWorkspace = await app.createWorkspace();
    const service = app.nest.get(ApiKeysService);
    const keyOf = async (role: 'EDITOR' | 'VIEWER', { workspaceId, userId } = workspace) =>
      (await service.create({ workspaceId, userId, name: role, role })).value;
    const keys = {
      admin: workspace.apiKey,
      editor: await keyOf('EDITOR'),
      viewer: await keyOf('VIEWER'),
      foreign: await keyOf('EDITOR', otherWorkspace),
      absent: undefined,
      unknown: `vat_${'0'.repeat(36)}`,
    };
    const deleted = await oneOfEach(app, workspace);
    const client = new HttpClient(app.url, keys.admin);
    for (const collection of deletable) {
      const { status } = await client.delete(`/${collection}/${deleted[collection] ?? ''}`);
      if (status !== 200) throw new Error(`DELETE in /${collection} returned ${status}`);
    }
    return new Fixtures(
      app,
      keys,
      workspace,
      await oneOfEach(app, workspace),
      await oneOfEach(app, otherWorkspace),
      deleted,
    );
  }

  key(caller: CallerName): string | undefined {
    return this.keys[caller];
  }

  /** The id to use in a path of this template. */
  id(kind: IdKind, template: string): string {
    const collection = collectionOf(template);
    const id = this.ids[collection];
    if (id === undefined || kind === 'unknown') return randomUUID();
    switch (kind) {
      case 'own':
        return id;
      case 'own-upper-case':
        return id.toUpperCase();
      case 'foreign':
        return this.foreign[collection] ?? '';
      case 'deleted':
        return this.deleted[collection] ?? '';
      case 'other-collection':
        return this.ids[collection === 'agents' ? 'runs' : 'agents'] ?? '';
    }
  }

  /** Creates a new resource in place of one that a request has deleted or consumed. */
  async replace(template: string): Promise<void> {
    const collection = collectionOf(template);
    // Deleting an agent affects its evaluations and runs, and the calls of the runs.
    const gone = collection === 'agents' ? ['agents', 'evaluations', 'runs', 'calls'] : [collection];
    for (const each of gone) this.ids[each] = await createWithChildren(this.service, this.workspace, each);
  }
}

async function oneOfEach(service: Service, subject: WorkspaceWithKey): Promise<Ids> {
  const ids: Ids = {};
  for (const collection of collections) ids[collection] = await createWithChildren(service, subject, collection);
  return ids;
}
