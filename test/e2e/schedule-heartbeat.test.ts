import { eventually, type Receiver, startReceiver } from '../support/receiver.js';
import { createRunApp, prepareAgent, type RunApp } from '../support/run-app.js';
import { vat } from '../support/vat.js';

describe('schedules with a worker', () => {
  let app: RunApp;
  let receiver: Receiver;

  beforeAll(async () => {
    [app, receiver] = await Promise.all([
      createRunApp(),
      startReceiver((response, _, count) => void response.writeHead(count === 1 ? 500 : 200).end()),
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
