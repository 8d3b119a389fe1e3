import { ExecutionRepository } from '../../src/modules/execution/execution.repository.js';
import { UndecidedCalls } from '../../src/modules/execution/undecided-calls.repository.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { endOpenRuns } from '../support/open-runs.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TEXT = { protocol: 'chat-completions', medium: 'text' };
const VOICE = { protocol: 'twilio-media-streams', medium: 'voice' };

/** No process executes jobs here. */
describe('calls of a version that did not store their protocol', () => {
  let database: TestDatabase;
  let app: TestApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), ROLE: 'api' }, databaseUrl: database.url });
  });
  afterEach(() => endOpenRuns(database.url));
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(database.url, text, values);
  /** Calls of a run as that version writes them. */
  const startedBefore = async (repeat: number, connection?: object) => {
    const { client, agentId } = await prepareEvaluations(app);
    const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat })).body.data;
    if (connection)
      expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    await query('UPDATE calls SET protocol = NULL, medium = NULL WHERE run_id = $1', [id]);
    return { client, agentId, runId: id as string };
  };
  const callsOf = (runId: string) =>
    query('SELECT id, status, protocol, medium FROM calls WHERE run_id = $1 ORDER BY position', [runId]);
  const decide = () => app.nest.get(UndecidedCalls).decide();
  const claimed = async (medium: 'text' | 'voice') =>
    (await app.nest.get(ExecutionRepository).claim([{ medium, count: 1, kept: 0, holders: [] }]))[0];

  it('wait until a sweep decides on it once, by the connection of their agent', async () => {
    const text = await startedBefore(1);
    const voice = await startedBefore(1, { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' });
    for (const medium of ['text', 'voice'] as const) expect(await claimed(medium)).toBeUndefined();
    await decide();
    expect(await callsOf(text.runId)).toMatchObject([TEXT]);
    expect(await callsOf(voice.runId)).toMatchObject([VOICE]);

    await voice.client.delete(`/agents/${voice.agentId}/connection`);
    await decide();
    expect(await callsOf(voice.runId)).toMatchObject([VOICE]);
    expect(await claimed('text')).toMatchObject({ agentId: text.agentId, ...TEXT });
    expect(await claimed('text')).toBeUndefined();
    expect(await claimed('voice')).toMatchObject({ agentId: voice.agentId, ...VOICE });
  });

  it('wait for slots of their medium from the same sweep', async () => {
    const { runId } = await startedBefore(2, { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' });
    await query(`UPDATE calls SET due_at = now() - interval '3 s' WHERE run_id = $1`, [runId]);
    const sweep = () => app.nest.get(ExecutionRepository).sweep();
    expect(await sweep()).toEqual([]);
    await decide();
    expect(await sweep()).toEqual([{ protocol: 'twilio-media-streams', calls: 2 }]);
    expect(await claimed('text')).toBeUndefined();
    expect(await claimed('voice')).toMatchObject(VOICE);
  });
});
