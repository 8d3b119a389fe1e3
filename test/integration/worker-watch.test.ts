import { WorkerWatch } from '../../src/platform/queue/worker-watch.js';
import { LogLines } from '../support/log-lines.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

describe('an API process without any worker process', () => {
  const log = new LogLines();
  let app: TestApp;

  beforeAll(async () => {
    app = await createTestApp({ log, env: { ...callEnv('http://127.0.0.1:9/v1'), ROLE: 'api' } });
    const { client, agentId } = await prepareEvaluations(app);
    expect(await client.post(`/agents/${agentId}/runs`, {})).toMatchObject({ status: 201 });
  });
  afterAll(() => app.close());

  const errors = () => log.lines.filter(({ level }) => level === 50).map(({ msg }) => msg as string);
  const check = () => app.nest.get(WorkerWatch).check();

  it('logs an error when a run waits for longer than a worker process takes to start', async () => {
    await check();
    expect(errors()).toEqual([]);
    await sql(app.databaseUrl, `UPDATE calls SET due_at = due_at - interval '1 minute'`);
    await check();
    expect(errors()).toEqual([
      expect.stringMatching(/^1 jobs are due, for up to 6\d s, and no worker process is runn/),
    ]);
  });

  it('logs nothing more once a worker process has a heartbeat', async () => {
    const before = errors().length;
    await sql(
      app.databaseUrl,
      `INSERT INTO queue_workers (id, pools, machine, pid, started_at, seen_at)
       VALUES (gen_random_uuid(), '{}', 'another', 1, now(), now())`,
    );
    await check();
    expect(errors()).toHaveLength(before);
  });
});
