import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { WITHOUT_WORKER } from './resources.js';
import { ServiceProcess } from './service-process.js';
import { TEST_KEY, type TestApp } from './test-app.js';
import { until } from './until.js';

/** Where a worker process is killed with SIGKILL. */
export interface Death {
  /** Text of the statement from which statements are counted, in the first transaction in which it finds rows. */
  readonly marker: string;
  /**
   * Before this statement after the marker, or before COMMIT if there are fewer; or once COMMIT was sent, whose answer it does not
   * read.
   */
  readonly step: number | 'after COMMIT';
  /** Such transactions that it completes before. */
  readonly skip?: number;
}

const PRELOAD = pathToFileURL(path.join(PROJECT_ROOT, 'test/support/kill-at.mjs')).href;

/**
 * Runs worker processes on the database of an application, three at a time, each of which dies once. After the last death others
 * go on until the work is done: their connection is cut at the COMMIT of their first transaction with the marker.
 * @returns where they died, and how many connections were cut
 */
export async function runMortalWorkers(
  app: Pick<TestApp, 'databaseUrl'>,
  deaths: readonly Death[],
  isDone: () => Promise<boolean>,
): Promise<{ readonly died: string[]; readonly cut: number }> {
  const env = {
    ...{ ...WITHOUT_WORKER, ROLE: 'worker', DATABASE_URL: app.databaseUrl, LOG_LEVEL: 'error' },
    // What is due stays due, however long their starts take.
    SCHEDULE_GRACE_MINUTES: '1440',
    ENCRYPTION_KEYS: `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}`,
  };
  const left = deaths.values();
  const alive = new Set<ServiceProcess>();
  const died: string[] = [];
  let cut = 0;
  const start = async (end: object) => {
    const further = { KILL_AT: JSON.stringify(end), NODE_OPTIONS: `--import ${PRELOAD}` };
    const started = await ServiceProcess.start({ ...env, ...further });
    alive.add(started);
    return started;
  };
  const lane = async () => {
    for (const death of left) {
      const worker = await start(death);
      const what = `a worker dies: ${JSON.stringify(death)}`;
      await until(what, () => worker.exit !== undefined, 240_000);
      died.push(/^killed .*$/m.exec(worker.output)?.[0] ?? worker.output);
    }
  };
  try {
    await Promise.all([lane(), lane(), lane()]);
    alive.clear();
    for (let survivor = 0; survivor < 3; survivor++) await start({ marker: deaths[0]!.marker, step: 'cut at COMMIT' });
    await until('the work is done', isDone, 600_000);
    cut = [...alive].filter(({ output }) => output.includes('cut at COMMIT')).length;
  } finally {
    await Promise.all([...alive].map((worker) => worker.dispose()));
  }
  return { died, cut };
}
