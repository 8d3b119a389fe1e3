import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { agentBody } from '../factories/bodies.js';
import { type Format, MEDIA_TYPES, messages } from '../support/evaluation-files.js';
import { HttpClient } from '../support/http.js';
import { createRunApp, executeRun, type RunApp } from '../support/run-app.js';

const FOLDER = path.resolve(__dirname, '../../docs/examples');
/** Other kinds of examples may be in the same folder. */
const NAMES = readdirSync(FOLDER).filter((name) => /^evaluations:/m.test(read(name)));

function read(name: string): string {
  return readFileSync(path.join(FOLDER, name), 'utf8');
}

describe('the example files', () => {
  let app: RunApp;

  beforeAll(async () => {
    app = await createRunApp();
  });
  afterAll(() => app.close());

  /** Imports the file for a new agent of a new workspace. */
  async function importFile(name: string, assistantId?: string) {
    const client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    const agent = agentBody(assistantId === undefined ? {} : { assistantId });
    const agentId: string = (await client.post('/agents', agent)).body.data.id;
    const type = MEDIA_TYPES[path.extname(name).slice(1) as Format];
    const send = async () => {
      const url = `/agents/${agentId}/evaluations/import`;
      const { status, body } = await client.send('POST', url, read(name), { 'Content-Type': type });
      expect([status, messages(body)]).toEqual([200, []]);
      return body.data;
    };
    return { client, agentId, send, result: await send() };
  }

  it('include a suite', () => {
    expect(NAMES).toContain('restaurant.yaml');
  });

  it.each(NAMES)('%s imports, changes nothing the second time, and passes with the reference agent', async (name) => {
    const { client, agentId, send, result } = await importFile(name);
    expect(result.created).toBeGreaterThan(0);
    expect(await send()).toMatchObject({ created: 0, updated: 0, personalities: { created: 0, updated: 0 } });
    const run = await executeRun(client, agentId);
    expect(run).toMatchObject({ status: 'COMPLETED', reasons: [], counts: { passed: result.created, failed: 0 } });
  });

  it('restaurant.yaml fails with an agent that books the wrong table', async () => {
    const { client, agentId } = await importFile('restaurant.yaml', 'booking:wrong-tool-argument');
    const run = await executeRun(client, agentId);
    expect(run).toMatchObject({ status: 'FAILED', counts: { passed: 2, failed: 1 } });
  });
});
