/**
 * Injects faults into a complete installation and checks its invariants afterwards:
 *   npm run chaos -- [--minutes N] [--seed N] [--short] [--logs FOLDER]
 * The seed fixes the requests and the order of the faults; their timing depends on the machine.
 */
import 'reflect-metadata';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Installation } from './installation.js';
import { runChaos } from './chaos.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    short: { type: 'boolean' },
    logs: { type: 'string' },
  },
});
const isShort = values.short === true;
const minutes = Number(values.minutes ?? '5');
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new Error('--minutes and --seed take numbers');

const startedAt = performance.now();
const print = (line: string) => void process.stdout.write(`${line}\n`);
print(`Seed ${seed}, ${isShort ? 'short form' : `${minutes} minutes`}`);

const directory = await mkdtemp(path.join(tmpdir(), 'chaos-'));
const root = path.resolve(import.meta.dirname, '../..');
if (values.logs !== undefined) await mkdir(values.logs, { recursive: true });
const installation = await Installation.open(root, directory, hasRedis(), values.logs);
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isEnding) return;
    isEnding = true;
    print(`${signal}: stopping all processes`);
    void cleanUp().finally(() => process.exit(1));
  });
}
try {
  const findings = await runChaos(installation, {
    seed,
    disturbedMs: isShort ? 0 : minutes * 60_000,
    quietMs: isShort ? 15_000 : 60_000,
    clientsPerWorkspace: isShort ? 5 : 10,
    print,
  });
  for (const { name, figures, problems } of findings) {
    print(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${name}: ${figures}`);
    for (const problem of problems.slice(0, 10)) print(`         ${problem}`);
    if (problems.length > 10) print(`         and ${problems.length - 10} more`);
  }
  const failed = findings.filter(({ problems }) => problems.length > 0).length;
  const took = `${Math.round((performance.now() - startedAt) / 1_000)} s, seed ${seed}`;
  print(
    failed === 0
      ? `All ${findings.length} invariants hold (${took})`
      : `${failed} of ${findings.length} failed (${took})`,
  );
  if (!isEnding) process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  // Errors caused by the shutdown are not reported.
  if (!isEnding) throw error;
} finally {
  if (!isEnding) await cleanUp();
}
// Idle keep-alive connections of the clients would keep the process alive.
if (!isEnding) process.exit();

async function cleanUp(): Promise<void> {
  await installation.stop();
  // Retried while the last processes of PostgreSQL still write.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    if (process.env['REQUIRE_ALL_TESTS'] === 'true') throw error;
    print('Without Redis and its disturbances, because no redis-server is installed (apt-get install redis-server)');
    return false;
  }
}
