import { ApiKeysService } from '../../src/modules/api-keys/api-keys.service.js';
import type { Role } from '../../src/platform/access/caller.js';
import { insertEvaluation } from '../factories/rows.js';
import { EvaluationFiles } from '../support/evaluation-files.js';
import type { HttpClient } from '../support/http.js';

const NOWHERE = '00000000-0000-4000-8000-000000000000';

describe('permission to write evaluations', () => {
  let files: EvaluationFiles;
  let foreign: HttpClient;
  let agentId: string;

  const clientOf = async (role: Role): Promise<HttpClient> => {
    const key = await files.app.nest.get(ApiKeysService).create({ ...files.owner, name: role, role });
    return files.client.as(key.value);
  };

  beforeAll(async () => {
    files = await EvaluationFiles.open();
    foreign = files.client.as((await files.app.createWorkspace()).apiKey);
    agentId = await files.createAgent();
  });
  afterAll(() => files.app.close());

  const requests = (id: string) =>
    [
      ['POST', `/agents/${agentId}/evaluations`, files.item('new'), 'EDITOR'],
      ['PATCH', `/evaluations/${id}`, { name: 'x' }, 'EDITOR'],
      ['POST', `/agents/${agentId}/evaluations/import?dryRun=true`, [], 'EDITOR'],
      ['GET', `/agents/${agentId}/evaluations/export`, undefined, 'VIEWER'],
      ['DELETE', `/evaluations/${id}`, undefined, 'EDITOR'],
    ] as const;

  it('depends on the role', async () => {
    const viewer = await clientOf('VIEWER');
    const editor = await clientOf('EDITOR');
    const { id } = await insertEvaluation(files.manager, files.owner, agentId);
    for (const [method, path, body, role] of requests(id)) {
      const rejected = await viewer.send(method, path, body);
      expect([method, path, rejected.status]).toEqual([method, path, role === 'VIEWER' ? 200 : 403]);
      expect((await editor.send(method, path, body)).status).toBeLessThan(300);
      expect((await files.client.as(undefined).send(method, path, body)).status).toBe(401);
    }
  });

  it('is limited to the workspace', async () => {
    const { id } = await insertEvaluation(files.manager, files.owner, agentId);
    for (const [method, path, body] of requests(id)) {
      const { status, body: response } = await foreign.send(method, path, body);
      expect([method, path, status, response.code]).toEqual([method, path, 403, 'FORBIDDEN']);
      const elsewhere = path.replace(agentId, NOWHERE).replace(id, NOWHERE);
      expect((await files.client.send(method, elsewhere, body)).status).toBe(404);
    }
  });
});
