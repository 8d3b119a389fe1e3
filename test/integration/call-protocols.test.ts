import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { ExecutionRepository } from '../../src/modules/execution/execution.repository.js';
import { UndecidedCalls } from '../../src/modules/execution/undecided-calls.repository.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { endOpenRuns } from '../support/open-runs.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TEXT = { protocol: 'chat-completions', medium: 'text' };
const VOICE = { protocol: 'twilio-media-streams', medium: 'voice' };
const UNKNOWN = { protocol: null, medium: null };

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

  it('get the medium of their result by the migration if they have ended', async () => {
    const { client, runId } = await startedBefore(5);
    const calls = await callsOf(runId);
    const [spoken, written, withoutResult, cancelled, open] = calls.map(({ id }) => id as string);
    const end = (id: string | undefined) =>
      query(`UPDATE calls SET status = 'ENDED', outcome = 'error', reason = 'It ended.' WHERE id = $1`, [id]);
    for (const id of [spoken, written, withoutResult]) await end(id);
    await query(`UPDATE calls SET status = 'CANCELLED' WHERE id = $1`, [cancelled]);
    const result = (id: string | undefined, voice: object | null) =>
      query('INSERT INTO call_results (call_id, result) VALUES ($1, $2)', [
        id,
        JSON.stringify({ timeline: [], voice }),
      ]);
    await result(spoken, { voice: { clock: 'heard' }, wireFindings: [], words: [] });
    await result(written, null);

    const dataSource = await createDataSource(database.url, 2).initialize();
    try {
      const names = dataSource.migrations.map(({ name }) => name);
      const undone = names.slice(names.indexOf('CallProtocols1733000000000'));
      for (const _ of undone) await dataSource.undoLastMigration({ transaction: 'each' });
      await expect(callsOf(runId)).rejects.toThrow('column "protocol" does not exist');
      expect(await migrate(dataSource)).toEqual(undone);
    } finally {
      await dataSource.destroy();
    }
    expect(await callsOf(runId)).toMatchObject([
      { id: spoken, protocol: null, medium: 'voice' },
      { id: written, protocol: null, medium: 'text' },
      { id: withoutResult, protocol: null, medium: 'text' },
      { id: cancelled, ...UNKNOWN },
      { id: open, ...UNKNOWN },
    ]);
    const shown = async (id: string | undefined) => (await client.get(`/calls/${id}`)).body.data;
    expect(await shown(spoken)).toMatchObject({ protocol: null, medium: 'voice' });
    expect(await shown(cancelled)).toMatchObject(UNKNOWN);
    await decide();
    expect((await callsOf(runId)).at(-1)).toMatchObject({ id: open, ...TEXT });
  });
});
