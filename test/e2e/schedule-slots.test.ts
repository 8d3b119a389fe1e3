import { randomUUID } from 'node:crypto';
import { RunEntity } from '../../src/modules/runs/run.entity.js';
import { agentBody, scheduleBody } from '../factories/bodies.js';
import { insertEvaluation } from '../factories/rows.js';
import { type PreparedSchedules, prepareSchedules } from '../support/schedules.js';
import { sql } from '../support/sql.js';

/** More than the jitter. */
const A_MINUTE = 61_000;
const HOUR = 3_600_000;

describe('the slots of a schedule', () => {
  let schedules: PreparedSchedules;

  beforeAll(async () => {
    schedules = await prepareSchedules();
  });
  afterEach(() => sql(schedules.app.databaseUrl, 'DELETE FROM schedules'));
  afterAll(() => schedules.app.close());

  const at = (time: string) => (schedules.clock.time = Date.parse(time));
  /** A schedule that is due next at 12:00 UTC on 1 December 2026. */
  const create = async (values: object = {}): Promise<string> => {
    at('2026-12-01T11:59:00Z');
    const body = scheduleBody({ cron: '0 * * * *', timeZone: 'UTC', ...values });
    const response = await schedules.client.post(`/agents/${schedules.agentId}/schedules`, body);
    expect(response).toMatchObject({ status: 201 });
    return response.body.data.id;
  };
  const sweepAt = async (time: string) => {
    at(time);
    schedules.clock.time += A_MINUTE;
    await schedules.starter.startDue();
  };
  const endRuns = async (scheduleId: string) => {
    await schedules.manager.update(RunEntity, { scheduleId }, { status: 'COMPLETED' });
  };
  const slots = async (id: string) =>
    (await schedules.client.get(`/schedules/${id}/slots`)).body.data.map(
      ({ outcome, from, to, count }: { outcome: string; from: string; to: string; count: number }) =>
        `${outcome} ${from.slice(8, 16)}${count === 1 ? '' : ` to ${to.slice(8, 16)} (${count})`}`,
    );
  const events = async (): Promise<any[]> =>
    (await sql(schedules.app.databaseUrl, `SELECT body FROM webhook_events ORDER BY created_at`)).map(({ body }) =>
      JSON.parse(body),
    );

  it('has a run, which names its schedule, and is the only one at that time', async () => {
    const id = await create();
    at('2026-12-01T11:59:59Z');
    await schedules.starter.startDue();
    expect(await slots(id)).toEqual([]);
    await sweepAt('2026-12-01T12:00:00Z');
    await sweepAt('2026-12-01T12:00:00Z');
    const { data } = (await schedules.client.get(`/schedules/${id}/slots`)).body;
    expect(data).toEqual([
      {
        id: expect.any(String),
        outcome: 'started',
        ...{ from: '2026-12-01T12:00:00.000Z', to: '2026-12-01T12:00:00.000Z', count: 1, issues: [] },
        runId: expect.any(String),
      },
    ]);
    const run = (await schedules.client.get(`/runs/${data[0].runId}`)).body.data;
    expect(run).toMatchObject({ scheduleId: id, name: 'Nightly', repeat: 2, userId: schedules.owner.userId });
    expect((await schedules.client.get(`/schedules/${id}`)).body.data).toMatchObject({
      ...{ lastRunId: run.id, nextRunAt: '2026-12-01T13:00:00.000Z' },
    });
  });

  // multica-ai/multica#4384, quartz-scheduler/quartz#548: a node whose clock was behind started the same time again.
  it('is not repeated by a process whose clock is behind, nor when a clock goes back and the pattern is changed', async () => {
    const id = await create();
    await sweepAt('2026-12-01T12:00:00Z');
    await endRuns(id);
    await sweepAt('2026-12-01T11:58:00Z');
    await schedules.client.patch(`/schedules/${id}`, { cron: '0,30 * * * *' });
    await sweepAt('2026-12-01T12:00:00Z');
    expect(await slots(id)).toEqual(['started 01T12:00']);
    await sweepAt('2026-12-01T12:30:00Z');
    expect(await slots(id)).toEqual(['started 01T12:30', 'started 01T12:00']);
  });

  it('is started by one of many workers at the same time', async () => {
    const id = await create();
    at('2026-12-01T12:01:30Z');
    await Promise.all(Array.from({ length: 4 }, () => schedules.starter.startDue()));
    expect(await slots(id)).toEqual(['started 01T12:00']);
    expect(await schedules.manager.countBy(RunEntity, { scheduleId: id })).toBe(1);
  });

  it('is an overlap while a run of the schedule is in progress, and the second in a row is reported', async () => {
    const id = await create();
    await schedules.client.post('/workspace/webhooks', { url: 'https://example.com/', events: ['schedule.not_run'] });
    await schedules.client.post(`/schedules/${id}/run`);
    await sweepAt('2026-12-01T12:00:00Z');
    expect(await events()).toEqual([]);
    await sweepAt('2026-12-01T13:00:00Z');
    await sweepAt('2026-12-01T14:00:00Z');
    await endRuns(id);
    await sweepAt('2026-12-01T15:00:00Z');
    expect(await slots(id)).toEqual(['started 01T15:00', 'overlap 01T14:00', 'overlap 01T13:00', 'overlap 01T12:00']);
    const { agentId } = schedules;
    const about = { scheduleId: id, scheduleName: 'Every night', agentId, agentName: 'Bella Vista' };
    expect(await events()).toEqual([
      {
        type: 'schedule.not_run',
        timestamp: expect.any(String),
        data: { ...about, since: '2026-12-01T12:00:00.000Z', notRun: 2, reason: 'overlap', issues: [] },
      },
    ]);
  });

  it('is started late after an hour without the service, within the grace, and the others are missed', async () => {
    const id = await create({ cron: '*/10 * * * *' });
    await sweepAt('2026-12-01T12:00:00Z');
    await endRuns(id);
    await sweepAt('2026-12-01T13:02:00Z');
    expect(await slots(id)).toEqual(['started 01T13:00', 'missed 01T12:10 to 01T12:50 (5)', 'started 01T12:00']);
  });

  it('is missed after the grace', async () => {
    const id = await create();
    at('2026-12-01T12:16:01Z');
    await schedules.starter.startDue();
    expect(await slots(id)).toEqual(['missed 01T12:00']);
    await sweepAt('2026-12-01T13:14:00Z');
    expect(await slots(id)).toEqual(['started 01T13:00', 'missed 01T12:00']);
  });

  // kubernetes/kubernetes#42649: a CronJob with more than 100 missed times was never started again.
  it('is one row for a week without the service, after which the schedule goes on', async () => {
    const id = await create({ cron: '*/5 * * * *' });
    await sweepAt('2026-12-08T12:01:00Z');
    await endRuns(id);
    expect(await slots(id)).toEqual(['started 08T12:00', 'missed 01T12:00 to 08T11:55 (2016)']);
    await sweepAt('2026-12-08T12:05:00Z');
    expect((await slots(id)).slice(0, 1)).toEqual(['started 08T12:05']);
  });

  it('is disabled while the schedule is paused or its agent deleted, and continues afterwards', async () => {
    const id = await create();
    const { client, agentId } = schedules;
    await client.patch(`/schedules/${id}`, { enabled: false });
    await sweepAt('2026-12-01T12:00:00Z');
    await sweepAt('2026-12-01T13:00:00Z');
    await client.patch(`/schedules/${id}`, { enabled: true });
    await sweepAt('2026-12-01T14:00:00Z');
    await endRuns(id);
    await client.delete(`/agents/${agentId}`);
    await sweepAt('2026-12-01T15:00:00Z');
    await client.post(`/agents/${agentId}/restore`);
    await sweepAt('2026-12-01T16:00:00Z');
    expect(await slots(id)).toEqual([
      'started 01T16:00',
      'disabled 01T15:00',
      'started 01T14:00',
      'disabled 01T12:00 to 01T13:00 (2)',
    ]);
  });

  it('is refused with the reason if the run cannot be started, and does not stop the next one', async () => {
    const { client, owner, manager } = schedules;
    const agentId = (await client.post('/agents', agentBody())).body.data.id;
    const evaluation = await insertEvaluation(manager, owner, agentId);
    at('2026-12-01T11:59:00Z');
    const { id } = (
      await client.post(`/agents/${agentId}/schedules`, scheduleBody({ cron: '0 * * * *', timeZone: 'UTC' }))
    ).body.data;
    await client.delete(`/evaluations/${evaluation.id}`);
    await sweepAt('2026-12-01T12:00:00Z');
    const [slot] = (await client.get(`/schedules/${id}/slots`)).body.data;
    expect(slot).toMatchObject({ outcome: 'refused', runId: null, issues: ['The agent has no evaluations to run'] });
    await insertEvaluation(manager, owner, agentId);
    await sweepAt('2026-12-01T13:00:00Z');
    expect(await slots(id)).toEqual(['started 01T13:00', 'refused 01T12:00']);
  });

  it('is refused once the user was removed, and not because a key was revoked', async () => {
    const { app, manager } = schedules;
    const id = await create();
    await sql(app.databaseUrl, 'UPDATE schedules SET created_by_user_id = $1', [randomUUID()]);
    await sweepAt('2026-12-01T12:00:00Z');
    const [slot] = (await schedules.client.get(`/schedules/${id}/slots`)).body.data;
    expect(slot).toMatchObject({
      outcome: 'refused',
      issues: ['The user that created the schedule was removed from the workspace'],
    });
    expect(await manager.countBy(RunEntity, { scheduleId: id })).toBe(0);
  });

  it('is started by the next sweep if a defect of the service ended the first try', async () => {
    const id = await create();
    const other = await create();
    // A row that no request can write.
    await sql(schedules.app.databaseUrl, `UPDATE schedules SET time_zone = 'Nowhere' WHERE id = $1`, [id]);
    await sweepAt('2026-12-01T12:00:00Z');
    expect([await slots(id), await slots(other)]).toEqual([[], ['started 01T12:00']]);
    await sql(schedules.app.databaseUrl, `UPDATE schedules SET time_zone = 'UTC' WHERE id = $1`, [id]);
    await sweepAt('2026-12-01T12:05:00Z');
    expect(await slots(id)).toEqual(['started 01T12:00']);
  });

  it('is refused if the run could cost more than is left of the day, and a new day begins in the time zone', async () => {
    const { client, owner, manager, app } = schedules;
    const agentId = (await client.post('/agents', agentBody())).body.data.id;
    await insertEvaluation(manager, owner, agentId, { script: [{ say: 'Hello' }], maxDurationSeconds: 100 });
    const connection = { protocol: 'elevenlabs-text', url: 'https://example.com' };
    expect((await client.put(`/agents/${agentId}/connection`, connection)).status).toBe(200);
    const path = `/agents/${agentId}/schedules`;
    const values = { cron: '0 * * * *', timeZone: 'Asia/Kathmandu', run: {}, maxPaidSecondsPerDay: 199 };
    at('2026-12-01T16:16:00Z');
    const low = await client.post(path, scheduleBody(values));
    expect(low.body.issues).toEqual([
      {
        field: 'maxPaidSecondsPerDay',
        message: 'maxPaidSecondsPerDay must be at least 200, the most seconds that the platform can bill for one run',
      },
    ]);
    const { body } = await client.post(path, scheduleBody({ ...values, maxPaidSecondsPerDay: 300 }));
    const { id } = body.data;
    expect(body.data).toMatchObject({ maxPaidSeconds: 200, maxPaidMinutesPerWeek: 560 });
    expect((await client.post(`/schedules/${id}/run`)).status).toBe(201);
    await endRuns(id);
    await sweepAt('2026-12-01T17:15:00Z');
    await sweepAt('2026-12-01T18:15:00Z');
    expect(await slots(id)).toEqual(['started 01T18:15', 'refused 01T17:15']);
    const [, refused] = (await client.get(`/schedules/${id}/slots`)).body.data;
    expect(refused.issues).toEqual([
      'The run could cost 200 seconds of the platform; of maxPaidSecondsPerDay (300) runs of today can have used 200',
    ]);
    await endRuns(id);
    expect((await client.post(`/schedules/${id}/run`)).status).toBe(409);
    expect(await sql(app.databaseUrl, 'SELECT paid_seconds FROM schedules WHERE id = $1', [id])).toEqual([
      { paid_seconds: 200 },
    ]);
  });

  it('keeps its due time when the pattern is changed between that and its start', async () => {
    const id = await create();
    at('2026-12-01T12:00:00Z');
    await schedules.client.patch(`/schedules/${id}`, { cron: '30 * * * *' });
    await sweepAt('2026-12-01T12:00:00Z');
    await endRuns(id);
    await sweepAt('2026-12-01T12:30:00Z');
    expect(await slots(id)).toEqual(['started 01T12:30', 'started 01T12:00']);
  });

  it('starts less than a minute after it is due, at the same second each time', async () => {
    await Promise.all(Array.from({ length: 20 }, () => create()));
    const rows = await sql(schedules.app.databaseUrl, 'SELECT due_at, starts_at FROM schedules');
    const jitters = rows.map((row) => row.starts_at - row.due_at);
    expect(Math.max(...jitters)).toBeLessThan(60_000);
    expect(new Set(jitters).size).toBeGreaterThan(5);
    expect(schedules.clock.time % HOUR).toBe(59 * 60_000);
  });
});
