import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, serverPid } from '../../libs/embedded-postgres/testing/processes.js';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { programArguments } from '../support/program.js';
import { freePort } from '../support/redis.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';

jest.setTimeout(580_000);

/** How long a process may load on a busy machine, in milliseconds. */
const LOADING_MS = 4_000;
const MOMENTS = 20;
/** A process ends after it has loaded: seconds, but many on a busy machine. */
const END_MS = 90_000;
/** At the same time: a loading process uses a core. */
const BESIDE = 2;

let folder: string;
/** With a migrated embedded database. */
let template: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'abandoned-'));
  // PostgreSQL, which does not run as root, must reach its data.
  chmodSync(folder, 0o755);
  template = path.join(folder, 'template');
  const service = await ServiceProcess.start({ DATABASE_URL: '', DATA_DIR: template, ROLE: 'worker' });
  await service.waitForOutput('Running jobs and calls');
  service.child.kill('SIGTERM');
  await service.waitForExit();
  await service.dispose();
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

/** A parent that starts the program with a channel, as the supervisor does, and nothing else. */
const PARENT = `
  const [program, ...args] = process.argv.slice(1);
  const { pid } = require('node:child_process').fork(program, args, { execArgv: process.execArgv.slice(2) });
  process.stdout.write(String(pid));
  setInterval(() => undefined, 1000);
`;

/** Processes that were started with this folder as DATA_DIR, and the servers of its database. */
function processesOf(dataDir: string): number[] {
  const isOfFolder = (pid: string) => {
    try {
      return ['environ', 'cmdline'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(dataDir));
    } catch {
      return false;
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isOfFolder(name));
  return pids.map(Number).filter(isRunning);
}

/** Kills the parent after `ms`, and waits until neither its child nor a database is left. */
async function abandon(name: 'api' | 'worker', ms: number): Promise<void> {
  const dataDir = path.join(folder, `${name}-${ms}`);
  // Keeps the owners.
  execFileSync('cp', ['-a', template, dataDir]);
  const parent = spawn(process.execPath, ['-e', PARENT, ...programArguments('src/main.ts').slice(-1)], {
    cwd: PROJECT_ROOT,
    env: {
      ...process.env,
      ...{ DATA_DIR: dataDir, DATABASE_URL: '', HOST: '127.0.0.1', PORT: String(await freePort()) },
      ...{ ROLE: name, SUPERVISED_PROCESS: name },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  await sleep(ms);
  parent.kill('SIGKILL');
  const left = () => [...processesOf(dataDir), serverPid(path.join(dataDir, 'postgres')) ?? 0].filter(Boolean);
  try {
    await until(
      `the process ${String(pid)}, left after ${ms} ms, and its database are gone`,
      () => left().length === 0,
      END_MS,
    );
  } finally {
    for (const process_ of left()) process.kill(process_, 'SIGKILL');
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

const isLinux = process.platform === 'linux';
if (!isLinux) process.stderr.write('skipped: abandoned-processes.test.ts reads /proc\n');

(isLinux ? it : it.skip)(
  'a process whose parent is killed while it loads ends, and stops the database (unjs/env-runner#23, lis186/ccxray#395)',
  async () => {
    const moments = Array.from({ length: MOMENTS }, (_, n) =>
      Math.round((n * LOADING_MS) / MOMENTS + Math.random() * 200),
    );
    const next = moments.values();
    const one = async () => {
      for (const ms of next) await abandon(ms % 2 ? 'api' : 'worker', ms);
    };
    const results = await Promise.allSettled(Array.from({ length: BESIDE }, one));
    expect(results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))).toEqual([]);
  },
);
