/**
 * Kills workers, API and PostgreSQL with `kill -9` during a run and prints figures:
 *   node --import @swc-node/register/esm-register test/crash/run-crash.ts [calls] [kills]
 */
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crashRun } from '../support/run-crash.js';

const [calls = '200', kills = '8'] = process.argv.slice(2);
const dataDir = await mkdtemp(path.join(tmpdir(), 'run-crash-'));
try {
  const root = path.resolve(import.meta.dirname, '../..');
  const figures = await crashRun({ calls: Number(calls), kills: Number(kills), root, dataDir });
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
  const { endings, results, events, settledAfterMs, status, outcomes } = figures;
  const counted = (outcomes['passed'] ?? 0) + (outcomes['failed'] ?? 0);
  const isCorrect =
    counted === figures.calls &&
    endings === figures.calls &&
    results === figures.calls &&
    events === 1 &&
    status === 'COMPLETED' &&
    settledAfterMs < 60_000;
  process.exitCode = isCorrect ? 0 : 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
