import { randomUUID } from 'node:crypto';
import { ApiKeysService } from '../../../src/modules/api-keys/api-keys.service.js';
import { Database } from '../../../src/platform/database/database.js';
import { insertEvaluation, insertPersonality, insertRun, type Owner } from '../../factories/rows.js';
import { HttpClient } from '../http.js';
import type { TestApp } from '../test-app.js';
import type { CallerName, IdKind } from './requests.js';

type Resource = 'agents' | 'personalities' | 'evaluations' | 'runs';
type Ids = Record<Resource, string>;

/** What there is to be attacked: two workspaces with one of everything, and keys of every role. */
export class World {
  private constructor(
    private readonly app: TestApp,
    private readonly keys: Readonly<Record<CallerName, string | undefined>>,
    private readonly owner: Owner,
    private readonly own: Ids,
    private readonly foreign: Ids,
    private readonly deleted: Ids,
  ) {}

  static async create(app: TestApp): Promise<World> {
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
    const deleted = await one(app, home, keys.admin);
    const client = new HttpClient(app.url, keys.admin);
    await client.delete(`/agents/${deleted.agents}`);
    await client.delete(`/personalities/${deleted.personalities}`);
    return new World(app, keys, home, await one(app, home, keys.admin), await one(app, away, away.apiKey), deleted);
  }

  key(caller: CallerName): string | undefined {
    return this.keys[caller];
  }

  /** The id that stands in a path of this template. */
  id(kind: IdKind, template: string): string {
    const [, resource = ''] = template.split('/');
    if (!(resource in this.own) || kind === 'nobody') return randomUUID();
    const name = resource as Resource;
    switch (kind) {
      case 'own':
        return this.own[name];
      case 'own-upper-case':
        return this.own[name].toUpperCase();
      case 'foreign':
        return this.foreign[name];
      case 'deleted':
        return this.deleted[name];
      case 'other-kind':
        return name === 'agents' ? this.own.runs : this.own.agents;
    }
  }

  /** Puts something new in the place of what a request has deleted. */
  async renew(template: string): Promise<void> {
    const fresh = await one(this.app, this.owner, this.keys.admin);
    if (template.startsWith('/agents/')) Object.assign(this.own, fresh);
    else this.own.personalities = fresh.personalities;
  }
}

/** One of everything, in the workspace of the owner and the key. */
async function one(app: TestApp, owner: Owner, key: string | undefined): Promise<Ids> {
  const { manager } = app.nest.get(Database);
  const body = { provider: 'AGENT_PROVIDER_1', assistantId: 'assistant-1', apiKey: 'provider-key-1', name: 'Own' };
  const agent = await new HttpClient(app.url, key).post<{ data: { id: string } }>('/agents', body);
  const agentId = agent.body.data.id;
  const personality = await insertPersonality(manager, owner);
  const evaluation = await insertEvaluation(manager, owner, agentId, { personalityId: personality.id });
  const run = await insertRun(manager, owner, agentId);
  return { agents: agentId, personalities: personality.id, evaluations: evaluation.id, runs: run.id };
}
