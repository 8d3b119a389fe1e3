import { scheduleBody } from '../factories/bodies.js';
import { LogLines } from '../support/log-lines.js';
import { eventually, type Receiver, startReceiver } from '../support/receiver.js';
import { createRunApp, prepareAgent, type RunApp } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { vat } from '../support/vat.js';

describe('schedules with a worker', () => {
  let app: RunApp;
  let receiver: Receiver;
  const log = new LogLines();

  beforeAll(async () => {
    [app, receiver] = await Promise.all([
      createRunApp({}, { log }),
      startReceiver((response, { url }, count) => {
        const [, status] = /status=(\d+)/.exec(url!) ?? [];
        response.writeHead(status === undefined ? (count === 1 ? 500 : 200) : Number(status), { location: '/' }).end();
      }),
    ]);
  });
  afterAll(async () => {
    await app.close();
    await receiver.close();
  });

  it('send a heartbeat after each run, again if the monitor fails, and with vat are created, run, paused and deleted', async () => {
    const { client, agentId, apiKey } = await prepareAgent(app, ['house-facts']);
    const env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
    const run = (...args: string[]) => vat(['schedule', ...args], env);
    const options = ['--cron', '0 2 * * *', '--time-zone', 'Europe/Berlin', '--heartbeat-url', `${receiver.url}/ping`];
    const created = await run('create', '--agent', agentId, '--name', 'Night', ...options);
    expect(created).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/Created schedule "Night", next at .*: the platform does not bill its runs/),
    });
    const id = created.stdout.trim();
    const started = await run('run', id);
    const runId = started.stdout.trim();
    expect((await client.get<any>(`/runs/${runId}?wait=30`)).body.data).toMatchObject({
      scheduleId: id,
      status: 'COMPLETED',
    });
    await eventually(
      () => Promise.resolve(receiver.received.length),
      (count) => count === 2,
    );
    expect(receiver.received.map(({ path, body }) => [path, body])).toEqual([
      ['/hook/ping', ''],
      ['/hook/ping', ''],
    ]);
    expect((await run('list', '--agent', agentId)).stdout).toMatch(new RegExp(`${id} +Night .*${runId}`));
    expect(await run('pause', id)).toMatchObject({ code: 0, stdout: 'Paused schedule "Night"\n' });
    expect((await run('list', '--agent', agentId)).stdout).toContain('paused');
    expect((await run('resume', id)).stdout).toMatch(/^Resumed schedule "Night", next at /);
    expect(await run('delete', id)).toMatchObject({ code: 0, stdout: `Deleted schedule ${id}\n` });
    expect((await run('list', '--agent', agentId)).stdout).toBe('The agent has no schedules.\n');
    expect((await client.get(`/agents/${agentId}/schedules`)).body).toMatchObject({ meta: { total: 0 } });
  });

  // p2pool-starter-stack/pithead#560: a monitor that had been deleted answered 404, and the job took that for a success.
  it('show that a monitor refuses or redirects the heartbeat, log it without the address, and do not repeat it', async () => {
    const { client, agentId } = await prepareAgent(app, ['house-facts']);
    const before = receiver.received.length;
    const heartbeatUrl = `${receiver.url}/secret?status=`;
    const path = `/agents/${agentId}/schedules`;
    const body = scheduleBody({ heartbeatUrl: `${heartbeatUrl}404`, run: {} });
    const { id, heartbeatError } = (await client.post(path, body)).body.data;
    expect(heartbeatError).toBeNull();
    const errorAfterRun = async () => {
      const { body: started } = await client.post(`/schedules/${id}/run`);
      await client.get(`/runs/${started.data.id}?wait=30`);
      const read = async () => (await client.get(`/schedules/${id}`)).body.data.heartbeatError;
      return eventually(read, (error) => error !== null);
    };
    expect(await errorAfterRun()).toBe('The monitor responded with 404');
    const changed = await client.patch(`/schedules/${id}`, { heartbeatUrl: `${heartbeatUrl}301` });
    expect(changed.body.data.heartbeatError).toBeNull();
    expect(await errorAfterRun()).toBe('The monitor responded with 301, a redirect, which is not followed');
    await client.patch(`/schedules/${id}`, { name: 'Renamed' });
    expect((await client.get(`/schedules/${id}`)).body.data.heartbeatError).not.toBeNull();
    const jobs = () =>
      sql(app.databaseUrl, `SELECT FROM graphile_worker.jobs WHERE task_identifier = 'schedules.heartbeat'`);
    expect(await eventually(jobs, ({ length }) => length === 0)).toEqual([]);
    expect(receiver.received.slice(before).map((one) => one.path)).toEqual([
      '/hook/secret?status=404',
      '/hook/secret?status=301',
    ]);
    const messages = log.lines.map(({ msg }) => msg as string);
    expect(messages).toContain(`The heartbeat of schedule ${id} failed: The monitor responded with 404`);
    expect(messages.filter((message) => message.includes('hook/secret'))).toEqual([]);
  });

  it('name the option of vat that is wrong', async () => {
    const { agentId, apiKey } = await prepareAgent(app, ['house-facts']);
    const wrong = ['--name', 'Night', '--cron', '* * * * *', '--time-zone', 'UTC'];
    const { code, stderr } = await vat(['schedule', 'create', '--agent', agentId, ...wrong], {
      VAT_URL: app.url,
      VAT_API_KEY: apiKey,
    });
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('--cron: cron must leave at least 5 minutes between its runs'),
    ]);
  });
});
