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
   * Before this statement after the marker, or before COMMIT if there are fewer; once COMMIT was sent and its answer is not read; or
   * the process goes on, and only its connection is cut there.
   */
  readonly step: number | 'after COMMIT' | 'cut at COMMIT';
  /** Such transactions that it completes before. */
  readonly skip?: number;
}

const PRELOAD = pathToFileURL(path.join(PROJECT_ROOT, 'test/support/kill-at.mjs')).href;
const MARK = /^(?:killed|cut) .*$/m;

/**
 * Runs worker processes on the database of an application, three at a time, each of which dies once; after the last death others
 * that do not, until the work is done.
 * @returns where they died
 */
export async function runMortalWorkers(
  app: Pick<TestApp, 'databaseUrl'>,
  deaths: readonly Death[],
  isDone: () => Promise<boolean>,
): Promise<string[]> {
  const env = {
    ...{ ...WITHOUT_WORKER, ROLE: 'worker', DATABASE_URL: app.databaseUrl, LOG_LEVEL: 'error' },
    ENCRYPTION_KEYS: `${TEST_KEY.id}:${TEST_KEY.key.toString('base64')}`,
  };
  const left = deaths.values();
  const alive = new Set<ServiceProcess>();
  const died: string[] = [];
  const start = async (further: Record<string, string> = {}) => {
    const started = await ServiceProcess.start({ ...env, ...further });
    alive.add(started);
    return started;
  };
  const lane = async () => {
    for (const death of left) {
      const worker = await start({ KILL_AT: JSON.stringify(death), NODE_OPTIONS: `--import ${PRELOAD}` });
      const hasDied = () => MARK.test(worker.output) || worker.exit !== undefined;
      await until(`a worker dies: ${JSON.stringify(death)}\n${worker.output}`, hasDied, 120_000);
      died.push(MARK.exec(worker.output)?.[0] ?? worker.output);
    }
    await start();
  };
  try {
    await Promise.all([lane(), lane(), lane()]);
    await until('the work is done', isDone, 120_000);
  } finally {
    await Promise.all([...alive].map((worker) => worker.dispose()));
  }
  return died;
}
