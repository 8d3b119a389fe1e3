import { readSettings } from '../config/settings.js';
import type { Database } from '../database/database.js';
import { Metrics } from '../observability/metrics.js';
import { Queue } from './queue.js';
import { QueueMetrics } from './queue-metrics.js';

describe('metrics of the queue', () => {
  const query = jest.fn();
  const database = { query, poolState: { total: 0, idle: 0, waiting: 0 } } as unknown as Database;
  let metrics: Metrics;
  let queue: Queue;

  const create = (env: NodeJS.ProcessEnv) => {
    const settings = readSettings(env);
    metrics = new Metrics(database, settings);
    queue = new Queue(database);
    new QueueMetrics(metrics, queue, database, settings);
  };
  const sweep = async () => {
    for (const each of queue.sweepers) await each();
  };
  beforeEach(() => query.mockReset());
  afterEach(() => jest.restoreAllMocks());

  it('are read by sweeps, at most every ten seconds', async () => {
    create({ METRICS_PORT: '9464' });
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    query.mockResolvedValueOnce([{ jobs: 7, seconds: 1.5 }]);
    await sweep();
    const text = await metrics.registry.metrics();
    expect(text).toContain('\nqueue_jobs_waiting 7\n');
    expect(text).toContain('\nqueue_oldest_job_age_seconds 1.5\n');
    now.mockReturnValue(10_999);
    await sweep();
    expect(query).toHaveBeenCalledTimes(1);
    now.mockReturnValue(11_000);
    query.mockResolvedValueOnce([{ jobs: 0, seconds: 0 }]);
    await sweep();
    expect(await metrics.registry.metrics()).toContain('\nqueue_jobs_waiting 0\n');
  });

  it.each([
    ['without a port for metrics', {}],
    ['in a process that runs no jobs', { METRICS_PORT: '9464', ROLE: 'api' }],
  ])('cost no query %s', async (_where, env) => {
    create(env);
    await sweep();
    expect(query).not.toHaveBeenCalled();
    expect(await metrics.registry.metrics()).not.toContain('queue_');
  });
});
