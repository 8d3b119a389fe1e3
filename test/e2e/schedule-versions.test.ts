import { AgentVersionService } from '../../src/modules/schedules/agent-version.service.js';
import { scheduleBody } from '../factories/bodies.js';
import { insertCaseResult } from '../factories/rows.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type PreparedSchedules, prepareSchedules } from '../support/schedules.js';
import { sql } from '../support/sql.js';

const { signal } = new AbortController();

describe('the run of a schedule', () => {
  let schedules: PreparedSchedules;
  let platform: Receiver;
  let status = 200;

  beforeAll(async () => {
    platform = await startReceiver((response) => void response.writeHead(status).end(JSON.stringify({ version: 7 })));
    schedules = await prepareSchedules({ OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' });
    const { client, agentId } = schedules;
    const connection = { protocol: 'retell-text', url: platform.url };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
  });
  beforeEach(() => void (status = 200));
  afterAll(async () => {
    await schedules.app.close();
    await platform.close();
  });

  const start = async (run: object = {}): Promise<string> => {
    const { client, agentId } = schedules;
    const { id } = (await client.post(`/agents/${agentId}/schedules`, scheduleBody({ run }))).body.data;
    const { body } = await client.post(`/schedules/${id}/run`);
    expect(body.data).toMatchObject({ agentVersion: null, ...run });
    return body.data.id;
  };
  const jobsOf = async (runId: string): Promise<number> =>
    (
      await sql(schedules.app.databaseUrl, `SELECT FROM graphile_worker._private_jobs WHERE payload ->> 'runId' = $1`, [
        runId,
      ])
    ).length;
  const ask = (runId: string) => schedules.app.nest.get(AgentVersionService).ask(runId, signal);
  const versionOf = async (runId: string) => (await schedules.client.get(`/runs/${runId}`)).body.data.agentVersion;

  it('has the version of its agent that the platform has', async () => {
    const runId = await start();
    expect(await jobsOf(runId)).toBe(1);
    await ask(runId);
    expect(await versionOf(runId)).toBe('7');
  });

  it('has it in the results of its cases, too, if it has ended before', async () => {
    const { manager, owner, agentId, app } = schedules;
    const runId = await start();
    await insertCaseResult(manager, owner, agentId, { runId, agentVersion: null });
    await ask(runId);
    expect(await sql(app.databaseUrl, 'SELECT agent_version FROM case_results WHERE run_id = $1', [runId])).toEqual([
      { agent_version: '7' },
    ]);
  });

  it('keeps the version that it was given', async () => {
    const runId = await start({ agentVersion: 'a1b2c3d' });
    expect(await jobsOf(runId)).toBe(0);
    await ask(runId);
    expect(await versionOf(runId)).toBe('a1b2c3d');
  });

  it('has none if the platform refuses, and asks again if the platform fails', async () => {
    const runId = await start();
    status = 401;
    await ask(runId);
    status = 503;
    await expect(ask(runId)).rejects.toThrow('503');
    expect(await versionOf(runId)).toBeNull();
    status = 200;
    await ask(runId);
    expect(await versionOf(runId)).toBe('7');
  });

  it('has none if its agent was connected over another protocol since, or the run was deleted', async () => {
    const { client, agentId } = schedules;
    const runId = await start();
    await client.put(`/agents/${agentId}/connection`, { protocol: 'chat-completions', url: platform.url });
    await ask(runId);
    expect(await versionOf(runId)).toBeNull();
    await client.delete(`/runs/${runId}`);
    await ask(runId);
    expect(await ask('00000000-0000-4000-8000-000000000000')).toBeUndefined();
  });
});
