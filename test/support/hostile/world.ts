import { randomUUID } from 'node:crypto';
import { ApiKeysService } from '../../../src/modules/api-keys/api-keys.service.js';
import { HttpClient } from '../http.js';
import { collectionOf, collections, makeFilled, type Service, type Subject } from '../resources.js';
import type { TestApp } from '../test-app.js';
import type { CallerName, IdKind } from './requests.js';

/** What stands for one of each collection in a path. */
type Ids = Record<string, string>;

/** What there is to be attacked: two workspaces with one of everything, and keys of every role. */
export class World {
  private constructor(
    private readonly service: Service,
    private readonly keys: Readonly<Record<CallerName, string | undefined>>,
    private readonly home: Subject,
    private readonly own: Ids,
    private readonly foreign: Ids,
    private readonly deleted: Ids,
  ) {}

  /** @param deletable collections whose members the document lets delete */
  static async create(app: TestApp, deletable: readonly string[]): Promise<World> {
    const home = await app.createWorkspace();
    const away = await app.createWorkspace();
    const service = app.nest.get(ApiKeysService);
    const keyOf = async (role: 'EDITOR' | 'VIEWER', { workspaceId, userId } = home) =>
      (await service.create({ workspaceId, userId, name: role, role })).value;
    const keys = {
      admin: home.apiKey,
      editor: await keyOf('EDITOR'),
      viewer: await keyOf('VIEWER'),
      foreign: await keyOf('EDITOR', away),
      absent: undefined,
      unknown: `vat_${'0'.repeat(36)}`,
    };
    const deleted = await oneOfEach(app, home);
    const client = new HttpClient(app.url, keys.admin);
    for (const collection of deletable) {
      const { status } = await client.delete(`/${collection}/${deleted[collection] ?? ''}`);
      if (status !== 200) throw new Error(`DELETE in /${collection} answered ${status}`);
    }
    return new World(app, keys, home, await oneOfEach(app, home), await oneOfEach(app, away), deleted);
  }

  key(caller: CallerName): string | undefined {
    return this.keys[caller];
  }

  /** The id that stands in a path of this template. */
  id(kind: IdKind, template: string): string {
    const collection = collectionOf(template);
    const own = this.own[collection];
    if (own === undefined || kind === 'nobody') return randomUUID();
    switch (kind) {
      case 'own':
        return own;
      case 'own-upper-case':
        return own.toUpperCase();
      case 'foreign':
        return this.foreign[collection] ?? '';
      case 'deleted':
        return this.deleted[collection] ?? '';
      case 'other-kind':
        return this.own[collection === 'agents' ? 'runs' : 'agents'] ?? '';
    }
  }

  /** Puts something new in the place of what a request has deleted or used up. */
  async renew(template: string): Promise<void> {
    const collection = collectionOf(template);
    // Evaluations and runs go with their agent, and calls with their run.
    const gone = collection === 'agents' ? ['agents', 'evaluations', 'runs', 'calls'] : [collection];
    for (const each of gone) this.own[each] = await makeFilled(this.service, this.home, each);
  }
}

async function oneOfEach(service: Service, subject: Subject): Promise<Ids> {
  const ids: Ids = {};
  for (const collection of collections) ids[collection] = await makeFilled(service, subject, collection);
  return ids;
}
