/**
 * Kills workers, API and PostgreSQL with `kill -9` during voice calls and prints figures:
 *   node --import @swc-node/register/esm-register test/crash/voice-crash.ts [calls] [kills]
 */
import 'reflect-metadata';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crashRun } from '../support/run-crash.js';

const [calls = '20', kills = '4'] = process.argv.slice(2);
const dataDir = await mkdtemp(path.join(tmpdir(), 'voice-crash-'));
try {
  const root = path.resolve(import.meta.dirname, '../..');
  const figures = await crashRun({ calls: Number(calls), kills: Number(kills), voice: true, root, dataDir });
  const files = await readdir(path.join(dataDir, 'recordings'), { recursive: true });
  const parts = files.filter((name) => name.endsWith('.part')).length;
  process.stdout.write(`${JSON.stringify({ ...figures, partsLeft: parts }, null, 2)}\n`);
  const { endings, results, events, status, outcomes, recordings } = figures;
  const counted = (outcomes['passed'] ?? 0) + (outcomes['failed'] ?? 0);
  const isCorrect =
    counted === figures.calls &&
    endings === figures.calls &&
    results === figures.calls &&
    recordings.whole === figures.calls &&
    events === 1 &&
    status === 'COMPLETED';
  process.exitCode = isCorrect ? 0 : 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
