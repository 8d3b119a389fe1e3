import { readFileSync } from 'node:fs';
import { AlarmsRepository } from '../../src/modules/alarms/alarms.repository.js';
import { expectInvalid, expectNotFound } from '../support/expect.js';
import { sql } from '../support/sql.js';
import type { TestApp } from '../support/test-app.js';
import { watchingApp, WatchedSchedule } from '../support/watched-schedule.js';

let app: TestApp;
beforeAll(async () => void (app = await watchingApp()));
afterAll(() => app.close());

const GOOD = { passed: 20, failed: 0 };
const BAD = { passed: 13, failed: 7 };
const types = async (schedule: WatchedSchedule) => (await schedule.events()).map(({ type }) => type);

/** A schedule that has alarmed after 25 good nights and two bad ones. */
async function fallen(values: object = {}): Promise<{ schedule: WatchedSchedule; sinceRunId: string }> {
  const schedule = await WatchedSchedule.create(app, values);
  await schedule.nights(25, GOOD);
  const sinceRunId = await schedule.night(BAD);
  await schedule.night(BAD);
  return { schedule, sinceRunId };
}

describe('an alarm', () => {
  it('is raised and sent when the second night in a row is bad, with figures, cases and the first run', async () => {
    const schedule = await WatchedSchedule.create(app);
    await schedule.nights(25, GOOD, { passed: 4, failed: 0 });
    const sinceRunId = await schedule.night(BAD, { passed: 4, failed: 0 });
    expect([await schedule.alarms(), await schedule.events()]).toEqual([[], []]);
    await schedule.night(BAD, { passed: 4, failed: 0 });
    const [alarm] = await schedule.alarms();
    expect(alarm).toMatchObject({
      ...{ status: 'open', measure: 'passed', caseKey: null, caseName: null, looks: 2, sinceRunId, endedAt: null },
      ...{ scheduleId: schedule.id, scheduleName: 'Every night' },
      now: { counted: 48, share: (48 - 14) / 48 },
      before: { counted: 600, share: 1 },
    });
    expect(alarm.worstCases.map(({ name }: { name: string }) => name)).toEqual(['Case 0', 'Case 1']);
    const page = (await schedule.client.get<string>(`/agents/${schedule.agentId}/page`)).body;
    expect(page).toMatch(
      /Open alarms<\/dt>\s*<dd><p><bdi>Every night<\/bdi>: fewer calls pass since\s+2026-01-27 02:00 UTC/,
    );
    expect(page).toMatch(/Alarms find<\/dt>\s*<dd><p><bdi>Every night<\/bdi>: a fall to /);
    const events = await schedule.events();
    expect(events.map(({ type }) => type)).toEqual(['agent.degraded']);
    expect(events[0]!.data).toMatchObject({
      ...{ alarmId: alarm.id, agentName: 'Bella Vista', isReminder: false, since: alarm.since },
      ...{ now: alarm.now, before: alarm.before, worstCases: alarm.worstCases },
      reportUrl: `https://tests.example.com/runs/${sinceRunId}/report`,
    });
  });

  it('is one alarm as long as it is open, is sent once more, and ends when five nights are as good as before', async () => {
    const { schedule } = await fallen();
    await schedule.nights(3, BAD);
    const [alarm, ...others] = await schedule.alarms();
    expect(others).toEqual([]);
    await schedule.remind(alarm.id);
    // Its process died before the job had ended (langfuse/langfuse#16497, StellarNest-Labs/backend#12).
    await schedule.remind(alarm.id);
    expect((await schedule.events()).map(({ type, data }) => [type, data.isReminder])).toEqual([
      ['agent.degraded', false],
      ['agent.degraded', true],
    ]);
    await schedule.nights(4, GOOD);
    expect((await schedule.alarms())[0].status).toBe('open');
    await schedule.night(GOOD);
    expect((await schedule.alarms())[0]).toMatchObject({ status: 'recovered', endedAt: expect.any(String) });
    await schedule.remind(alarm.id);
    expect((await schedule.events()).at(-1)).toMatchObject({
      type: 'agent.recovered',
      data: { alarmId: alarm.id, endedBy: 'recovered' },
    });
    // Neither do the bad nights alarm again, nor do they hide a second fall (elementary-data/elementary#980).
    await schedule.nights(6, GOOD);
    expect(await schedule.alarms()).toHaveLength(1);
    await schedule.nights(2, BAD);
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['open', 'recovered']);
  });

  it('is accepted as the new normal: later nights are compared with the ones since then', async () => {
    const { schedule } = await fallen();
    const [{ id }] = await schedule.alarms();
    // Identifiers have no case.
    const path = `/agents/${schedule.agentId.toUpperCase()}/alarms/${id}/accept`;
    const { status, body } = await schedule.client.post(path, {});
    expect([status, body.data]).toEqual([200, expect.objectContaining({ id, status: 'accepted' })]);
    expect(await types(schedule)).toEqual(['agent.degraded', 'agent.recovered']);
    expect(await schedule.client.post(path, {})).toMatchObject({ status: 409 });
    await schedule.nights(25, BAD);
    expect(await schedule.alarms()).toHaveLength(1);
    await schedule.nights(2, { passed: 2, failed: 18 });
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['open', 'accepted']);
  });

  it('is ended by a new version of the agent, where the schedule says so', async () => {
    for (const resetOnVersion of [true, false]) {
      const { schedule } = await fallen({ resetOnVersion });
      await schedule.night({ ...BAD, agentVersion: 'v2' });
      await schedule.night({ ...BAD, agentVersion: 'v2' });
      await schedule.night({ ...BAD, agentVersion: 'v3' });
      const status = resetOnVersion ? 'new_version' : 'open';
      expect((await schedule.alarms()).map((alarm) => alarm.status)).toEqual([status]);
    }
  });

  it('does not come from another tester or another definition, and is then not over either', async () => {
    const changes = [
      { tester: { service: '2.0.0', judge: null, transcription: null, speech: [] } },
      { tester: { service: '1.0.0', judge: 'other-model', transcription: null, speech: [] } },
      { definitionHash: 'b'.repeat(64) },
    ];
    for (const change of changes) {
      const schedule = await WatchedSchedule.create(app);
      await schedule.nights(25, GOOD);
      await schedule.nights(15, { ...BAD, ...change });
      expect([await schedule.alarms(), await schedule.events()]).toEqual([[], []]);
      const open = await fallen();
      await open.schedule.nights(8, { ...GOOD, ...change });
      expect((await open.schedule.alarms())[0].status).toBe('open');
    }
  });

  it('does not hide a later fall once tester or definition changed: it cannot end by itself then', async () => {
    const { schedule } = await fallen();
    const change = { tester: { service: '2.0.0', judge: null, transcription: null, speech: [] } };
    await schedule.nights(25, { ...GOOD, ...change });
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['open']);
    await schedule.nights(2, { ...BAD, ...change });
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['open', 'open']);
    await schedule.nights(3, { ...BAD, ...change });
    expect(await schedule.alarms()).toHaveLength(2);
  });

  it('stays open while calls cannot be judged, or there are none (prometheus/prometheus#17482)', async () => {
    const { schedule } = await fallen();
    await schedule.nights(6, { passed: 0, failed: 0, error: 20 });
    await schedule.nights(4, { ...GOOD, caseKey: 'another-case' });
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['open']);
    await schedule.nights(5, GOOD);
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['recovered']);
  });

  it('ends when its cases are in none of five nights in a row, and its fall is not what they are compared with later', async () => {
    const { schedule } = await fallen();
    await schedule.nights(4, { ...GOOD, caseKey: 'another-case' });
    expect((await schedule.alarms())[0].status).toBe('open');
    await schedule.night({ ...GOOD, caseKey: 'another-case' });
    expect((await schedule.alarms())[0]).toMatchObject({ status: 'case_removed', endedAt: expect.any(String) });
    expect((await schedule.events()).at(-1)).toMatchObject({
      type: 'agent.recovered',
      data: { endedBy: 'case_removed' },
    });
    await schedule.nights(5, GOOD);
    await schedule.nights(2, BAD);
    expect((await schedule.alarms()).map(({ status }) => status)).toEqual(['open', 'case_removed']);
  });

  // elastic/kibana#112354, grafana/grafana#123583: alerts of deleted rules stayed open, and were never resolved elsewhere.
  it('ends when its schedule is deleted, and says so where it was sent', async () => {
    const { schedule } = await fallen();
    const muted = await WatchedSchedule.create(app);
    await muted.client.post(`/agents/${muted.agentId}/alarms/mute`, { until: '2099-01-01T00:00:00Z', reason: 'x' });
    await muted.nights(25, GOOD);
    await muted.nights(2, BAD);
    for (const one of [schedule, muted]) {
      expect(await one.client.delete(`/schedules/${one.id}`)).toMatchObject({ status: 200 });
      expect(await one.deletions()).toEqual([one.id]);
      expect(await one.alarms()).toMatchObject([{ status: 'schedule_deleted', endedAt: expect.any(String) }]);
    }
    expect((await schedule.events()).map(({ type, data }) => [type, data.endedBy])).toEqual([
      ['agent.degraded', undefined],
      ['agent.recovered', 'schedule_deleted'],
    ]);
    expect(await muted.events()).toEqual([]);
  });

  it('is found with few calls a night (vonrobak/fedora-homelab-containers#165), and not by one failure (elastic/kibana#203279)', async () => {
    const schedule = await WatchedSchedule.create(app);
    await schedule.nights(30, { passed: 4, failed: 0 });
    await schedule.night({ passed: 3, failed: 1 });
    await schedule.nights(4, { passed: 4, failed: 0 });
    expect(await schedule.alarms()).toEqual([]);
    await schedule.nights(3, { passed: 1, failed: 3 });
    expect(await schedule.alarms()).toHaveLength(1);
  });

  it('has the case that fell alone, among others that did not', async () => {
    const schedule = await WatchedSchedule.create(app);
    const steady = Array.from({ length: 6 }, () => ({ passed: 18, failed: 2 }));
    await schedule.nights(30, ...steady, { passed: 2, failed: 0 });
    await schedule.nights(5, ...steady, { passed: 0, failed: 2 });
    const alarms = await schedule.alarms();
    expect(alarms).toMatchObject([{ caseKey: 'case-6', caseName: 'Case 6', now: { share: 0 } }]);
  });

  it('comes from slow calls, too', async () => {
    const schedule = await WatchedSchedule.create(app);
    const latencies = Array.from({ length: 20 }, (_, call) => 800 + 10 * call);
    await schedule.nights(25, { ...GOOD, latencies });
    await schedule.nights(2, { ...GOOD, latencies: latencies.map((ms) => ms + 400) });
    expect(await schedule.alarms()).toMatchObject([{ measure: 'slow', now: { share: 1 } }]);
  });
});

describe('a look', () => {
  const looks = (schedule: WatchedSchedule) =>
    sql<any>(app.databaseUrl, 'SELECT * FROM looks WHERE schedule_id = $1 ORDER BY ended_at', [schedule.id]);

  it('has the runs of an hour and those since the look before, each once, also if its job is repeated', async () => {
    const schedule = await WatchedSchedule.create(app);
    const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 2, minutes));
    const runs: string[] = [];
    for (const minutes of [5, 25, 45, 70]) {
      runs.push(await schedule.run([GOOD], at(minutes)));
      await Promise.all([schedule.look(), schedule.look()]);
    }
    expect((await looks(schedule)).map(({ run_ids }) => run_ids)).toEqual([[runs[0]], runs.slice(1)]);
    const [, second] = await looks(schedule);
    expect(second.learning).toEqual({ looks: 20, calls: 100 });
  });

  it('says how many looks are missing, and then which falls are found', async () => {
    const schedule = await WatchedSchedule.create(app);
    await schedule.nights(12, GOOD);
    expect((await looks(schedule)).at(-1).learning).toEqual({ looks: 10, calls: 0 });
    await schedule.nights(12, GOOD);
    const { learning, findable } = (await looks(schedule)).at(-1);
    expect(learning).toBeNull();
    expect(findable).toContainEqual({ passRate: 0.8, looks: 2 });
  });

  it('finds as much during a fall as before it: the fall does not count as nights that differ', async () => {
    const { schedule } = await fallen();
    const before = (await looks(schedule)).at(-3).findable;
    expect(before).toContainEqual({ passRate: 0.8, looks: 2 });
    await schedule.nights(6, { passed: 10, failed: 10 });
    expect((await looks(schedule)).slice(-7).map(({ findable }) => findable)).toEqual(Array(7).fill(before));
  });

  it('that could not be judged is reported once until it is over, and is not a fall of the agent', async () => {
    const schedule = await WatchedSchedule.create(app);
    await schedule.nights(25, GOOD);
    await schedule.nights(3, { passed: 0, failed: 0, error: 12, invalid: 8 });
    await schedule.night({ passed: 16, failed: 0, error: 4 });
    expect(await types(schedule)).toEqual(['tester.unavailable']);
    await schedule.night({ passed: 15, failed: 0, error: 5 });
    expect((await schedule.events()).at(-1)).toMatchObject({
      type: 'tester.unavailable',
      data: { scheduleId: schedule.id, calls: 20, notJudged: 5 },
    });
    expect(await schedule.alarms()).toEqual([]);
  });

  it('is not taken of a deleted schedule or agent', async () => {
    const { schedule } = await fallen();
    expect(await schedule.client.delete(`/agents/${schedule.agentId}`)).toMatchObject({ status: 200 });
    const before = await looks(schedule);
    await schedule.night(BAD);
    expect(await looks(schedule)).toHaveLength(before.length);
  });
});

describe('a mute', () => {
  const mute = (schedule: WatchedSchedule, until: string | null, reason = 'Being moved') =>
    schedule.client.post(`/agents/${schedule.agentId}/alarms/mute`, { until, reason });
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  it('keeps an alarm from being sent until it is over; then it is sent for the first time (prometheus/alertmanager#2896)', async () => {
    const schedule = await WatchedSchedule.create(app);
    expect(await mute(schedule, inHours(48))).toMatchObject({ status: 200 });
    await schedule.nights(25, GOOD);
    await schedule.nights(2, BAD);
    const [alarm] = await schedule.alarms();
    expect([alarm.status, alarm.sentAt, await schedule.events()]).toEqual(['open', null, []]);
    await schedule.remind(alarm.id);
    expect(await schedule.events()).toEqual([]);
    expect(await mute(schedule, null)).toMatchObject({ status: 200 });
    const jobs = await sql<any>(app.databaseUrl, `SELECT run_at FROM graphile_worker.jobs WHERE key = $1`, [
      `alarm:${alarm.id}`,
    ]);
    expect(jobs.map(({ run_at }) => run_at < new Date())).toEqual([true]);
    await schedule.remind(alarm.id);
    expect((await schedule.events()).map(({ data }) => data.isReminder)).toEqual([false]);
  });

  it('does not hide the end of an alarm that was sent before, so that an incident can be closed (prometheus/alertmanager#226)', async () => {
    const { schedule } = await fallen();
    expect(await mute(schedule, inHours(48))).toMatchObject({ status: 200 });
    await schedule.nights(5, GOOD);
    expect(await types(schedule)).toEqual(['agent.degraded', 'agent.recovered']);
  });

  it('that ends early does not leave a reminder at its former end', async () => {
    const { schedule } = await fallen();
    const [{ id, sentAt }] = await schedule.alarms();
    const due = async () =>
      (await sql<any>(app.databaseUrl, 'SELECT run_at FROM graphile_worker.jobs WHERE key = $1', [`alarm:${id}`])).map(
        ({ run_at }) => run_at.toISOString(),
      );
    const until = inHours(1_000);
    await mute(schedule, until);
    await schedule.remind(id);
    expect([await due(), await types(schedule)]).toEqual([[until], ['agent.degraded']]);
    await mute(schedule, null);
    expect(await due()).toEqual([new Date(Date.parse(sentAt) + 24 * 3_600_000).toISOString()]);
  });

  it('has an end in the future and a reason', async () => {
    const schedule = await WatchedSchedule.create(app);
    expectInvalid(await mute(schedule, inHours(-1)), 'until');
    expectInvalid(await mute(schedule, '2026-02-30T00:00:00Z'), 'until');
    expectInvalid(await mute(schedule, inHours(1), ''), 'reason');
  });
});

it('is raised and over as the guide to schedules says of a planted fall', async () => {
  const guide = readFileSync('docs/guides/schedules.md', 'utf8');
  const [, shown] = /## A first alarm on a planted fall[^]*?```json\n([^]*?)```/.exec(guide)!;
  const schedule = await WatchedSchedule.create(app);
  const cases = (failed: number) =>
    Array.from({ length: 10 }, (_, at) => ({ passed: at < failed ? 1 : 2, failed: at < failed ? 1 : 0 }));
  await schedule.nights(25, ...cases(0));
  await schedule.night(...cases(7));
  expect(await schedule.alarms()).toEqual([]);
  await schedule.night(...cases(7));
  expect(await schedule.alarms()).toMatchObject([JSON.parse(shown!)]);
  const { rows, total } = await app.nest.get(AlarmsRepository).page(schedule.agentId, { limit: 10, offset: 0 });
  expect([rows.map(({ cases: read }) => read.length), total]).toEqual([[3], 1]);
  await schedule.nights(4, ...cases(0));
  expect(await schedule.alarms()).toMatchObject([{ status: 'open' }]);
  await schedule.night(...cases(0));
  expect(await schedule.alarms()).toMatchObject([{ status: 'recovered' }]);
});

it('belongs to its agent: another workspace cannot list, accept or mute', async () => {
  const { schedule } = await fallen();
  const other = await WatchedSchedule.create(app);
  const [{ id }] = await schedule.alarms();
  expect(await other.client.get(`/agents/${schedule.agentId}/alarms`)).toMatchObject({ status: 403 });
  expect(await other.client.post(`/agents/${schedule.agentId}/alarms/${id}/accept`, {})).toMatchObject({ status: 403 });
  expectNotFound(await other.client.post(`/agents/${other.agentId}/alarms/${id}/accept`, {}));
  expectNotFound(await other.client.post(`/agents/${other.agentId}/alarms/no-id/accept`, {}));
});
