import { randomUUID } from 'node:crypto';
import { agentBody, scheduleBody } from '../factories/bodies.js';
import { insertEvaluation } from '../factories/rows.js';
import { expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { type PreparedSchedules, prepareSchedules } from '../support/schedules.js';
import { sql } from '../support/sql.js';

describe('schedules', () => {
  let schedules: PreparedSchedules;

  beforeAll(async () => {
    schedules = await prepareSchedules();
  });
  afterAll(() => schedules.app.close());

  const at = (time: string) => (schedules.clock.time = Date.parse(time));
  const create = async (values: object = {}) => {
    const { status, body } = await schedules.client.post(
      `/agents/${schedules.agentId}/schedules`,
      scheduleBody(values),
    );
    expect([status, body.issues]).toEqual([201, undefined]);
    return body.data;
  };
  const get = async (id: string) => (await schedules.client.get(`/schedules/${id}`)).body.data;

  it('are created, read, changed and deleted', async () => {
    at('2026-11-30T12:00:00Z');
    const created = await create({ name: 'Night', cron: '0 2 * * *', timeZone: 'Europe/Berlin' });
    expect(created).toMatchObject({
      ...{ name: 'Night', cron: '0 2 * * *', timeZone: 'Europe/Berlin', run: { name: 'Nightly', repeat: 2 } },
      ...{ enabled: true, resetOnVersion: false, maxPaidSecondsPerDay: null, heartbeatUrl: null, lastRunId: null },
      ...{ nextRunAt: '2026-12-01T01:00:00.000Z', maxPaidSeconds: null, maxPaidMinutesPerWeek: null },
    });
    const { maxPaidSeconds: _seconds, maxPaidMinutesPerWeek: _minutes, ...schedule } = created;
    expect(await get(schedule.id)).toEqual(schedule);
    const { body } = await schedules.client.patch(`/schedules/${schedule.id}`, {
      cron: '30 3 * * *',
      run: { repeat: 1 },
    });
    expect(body.data).toMatchObject({ name: 'Night', run: { repeat: 1 }, nextRunAt: '2026-12-01T02:30:00.000Z' });
    expect(body.data.run).toEqual({ repeat: 1 });
    const paused = await schedules.client.patch(`/schedules/${schedule.id}`, { enabled: false });
    expect(paused.body.data).toMatchObject({ enabled: false, nextRunAt: null, cron: '30 3 * * *' });
    expect((await schedules.client.patch(`/schedules/${schedule.id}`, {})).status).toBe(200);
    expect((await schedules.client.delete(`/schedules/${schedule.id}`)).status).toBe(200);
    expectNotFound(await schedules.client.get(`/schedules/${schedule.id}`));
  });

  it.each<[object, ...string[]]>([
    [{ cron: '0 2 * *' }, 'cron'],
    [{ cron: '@daily' }, 'cron'],
    [{ cron: '* * * * *' }, 'cron'],
    [{ cron: '0 0 31 2 *' }, 'cron'],
    [{ timeZone: 'Berlin' }, 'timeZone'],
    [{ timeZone: '+01:00' }, 'timeZone'],
    [{ run: [] }, 'run'],
    [{ run: { dryRun: true } }, 'run.dryRun'],
    [{ run: { repeat: 0, tags: [] } }, 'run.repeat', 'run.tags'],
    [{ run: { name: 'x', toString: 1 } }, 'run.toString'],
    [{ run: { evaluationKeys: ['none of this'] } }, 'run.evaluationKeys.0'],
    [{ run: { evaluationKeys: Array.from({ length: 1_000 }, (_, n) => `${n}`.padEnd(80, 'x')) } }, 'run'],
    [{ heartbeatUrl: 'http://10.0.0.1/ping' }, 'heartbeatUrl'],
    [{ heartbeatUrl: 'ftp://example.com' }, 'heartbeatUrl'],
    [{ maxPaidSecondsPerDay: 0 }, 'maxPaidSecondsPerDay'],
    [{ cronn: '0 2 * * *' }, 'cronn'],
  ])('refuse %j, and name the field', async (values, ...fields) => {
    const { client, agentId } = schedules;
    expectInvalid(await client.post(`/agents/${agentId}/schedules`, scheduleBody(values)), ...fields);
    const { id } = await create();
    expectInvalid(await client.patch(`/schedules/${id}`, values), ...fields);
    await client.delete(`/schedules/${id}`);
  });

  it('refuse a run that could not be started', async () => {
    const agentId = (await schedules.client.post('/agents', agentBody())).body.data.id;
    const { status, body } = await schedules.client.post(`/agents/${agentId}/schedules`, scheduleBody());
    expect([status, body.message]).toEqual([409, 'The agent has no evaluations to run']);
  });

  it('are at most fifty of a workspace', async () => {
    const { app } = schedules;
    const { apiKey, ...owner } = await app.createWorkspace();
    const client = new HttpClient(app.url, apiKey);
    const agentId = (await client.post('/agents', agentBody())).body.data.id;
    await insertEvaluation(schedules.manager, owner, agentId);
    const { id } = (await client.post(`/agents/${agentId}/schedules`, scheduleBody())).body.data;
    await sql(
      app.databaseUrl,
      `INSERT INTO schedules SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
         FROM schedules s, generate_series(1, 47) WHERE id = $1`,
      [id],
    );
    const add = () => client.post(`/agents/${agentId}/schedules`, scheduleBody());
    const results = await Promise.all([add(), add(), add(), add()]);
    expect(results.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
    expect(results.find(({ status }) => status === 409)?.body.message).toBe(
      'A workspace can have at most 50 schedules',
    );
  });

  it('are read by a VIEWER, and changed by an EDITOR', async () => {
    const { id } = await create({ heartbeatUrl: 'https://example.com:8443/ping/secret?key=secret' });
    const viewer = new HttpClient(schedules.app.url, (await createKey(schedules.app, schedules.owner, 'VIEWER')).value);
    const editor = new HttpClient(schedules.app.url, (await createKey(schedules.app, schedules.owner)).value);
    expect((await viewer.get(`/schedules/${id}/slots`)).status).toBe(200);
    const list = await viewer.get(`/agents/${schedules.agentId}/schedules`);
    for (const { heartbeatUrl } of [(await viewer.get(`/schedules/${id}`)).body.data, list.body.data[0]]) {
      expect(heartbeatUrl).toBe('https://example.com:8443/');
    }
    expect((await viewer.post(`/schedules/${id}/run`)).status).toBe(403);
    expect((await viewer.patch(`/schedules/${id}`, { enabled: false })).status).toBe(403);
    expect((await editor.patch(`/schedules/${id}`, { enabled: false })).status).toBe(200);
  });

  it('start a run at once, unless one is in progress, and leave it when they are deleted', async () => {
    const { client, agentId } = schedules;
    const { id } = await create({ enabled: false });
    const { status, body } = await client.post(`/schedules/${id}/run`);
    expect([status, body.data.scheduleId, body.data.name, body.data.repeat]).toEqual([201, id, 'Nightly', 2]);
    expect((await get(id)).lastRunId).toBe(body.data.id);
    expect((await client.post(`/schedules/${id}/run`)).body.message).toBe('A run of the schedule is in progress');
    await client.post(`/agents/${agentId}/runs`, {});
    await client.delete(`/schedules/${id}`);
    const list = await client.get(`/agents/${agentId}/runs?scheduleId=${id}`);
    expect(list.body).toMatchObject({ meta: { total: 1 }, data: [{ id: body.data.id }] });
    expect((await client.get(`/agents/${agentId}/runs?scheduleId=${id}&status=COMPLETED`)).body.meta.total).toBe(0);
    expectInvalid(await client.get(`/agents/${agentId}/runs?scheduleId=x`), 'scheduleId');
    expect((await client.get(`/runs/${body.data.id}`)).body.data.scheduleId).toBe(id);
  });

  it('are erased with their agent, and cannot be changed while it is deleted', async () => {
    const { client, app } = schedules;
    const agentId = (await client.post('/agents', agentBody())).body.data.id;
    await insertEvaluation(schedules.manager, schedules.owner, agentId);
    const { id } = (await client.post(`/agents/${agentId}/schedules`, scheduleBody())).body.data;
    await client.delete(`/agents/${agentId}`);
    expect(await get(id)).toMatchObject({ enabled: true, nextRunAt: null });
    for (const response of [await client.post(`/schedules/${id}/run`), await client.patch(`/schedules/${id}`, {})]) {
      expect([response.status, response.body.message]).toEqual([
        409,
        'The agent of the schedule was deleted; restore it first',
      ]);
    }
    await client.delete(`/agents/${agentId}?permanently=true`);
    expectNotFound(await client.get(`/schedules/${id}`));
    expect(await sql(app.databaseUrl, 'SELECT 1 FROM schedules WHERE id = $1', [id])).toHaveLength(1);
    expectNotFound(await client.get(`/schedules/${randomUUID()}`));
  });
});
