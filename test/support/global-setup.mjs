import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, statfsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BUILD, buildSources } from './build.mjs';

/** A file system in memory, and the bytes that it must have free. */
const MEMORY = { folder: '/dev/shm', minFree: 4 * 1024 ** 3 };

export default async function globalSetup() {
  endWithNpm();
  const folder = createFolder();
  const databases = hasMemory() ? createEmptyFolder(MEMORY.folder) : createEmptyFolder(folder);
  globalThis.testGuard = startGuard([folder, databases]);
  // Jest workers inherit only the environment.
  process.env.TMPDIR = folder;
  await buildSources();
  process.env.TEST_BUILD = BUILD;
  const { startTestPostgres } = await import(path.join(BUILD, 'test/support/test-postgres.js'));
  globalThis.testPostgres = await startTestPostgres(path.join(databases, 'postgres'));
  process.env.TEST_DATABASE_URL = globalThis.testPostgres.url;
}

/** The temporary folder of everything that this run creates; the guard recognises the run's processes by its name. */
function createFolder() {
  // Synthesis takes long, so that runs share what they have synthesised.
  const speech = path.join(tmpdir(), 'reference-agent-speech');
  mkdirSync(speech, { recursive: true });
  const folder = createEmptyFolder(tmpdir());
  symlinkSync(speech, path.join(folder, 'reference-agent-speech'));
  return folder;
}

function createEmptyFolder(parent) {
  const folder = mkdtempSync(path.join(parent, 'voice-agent-testing-'));
  // PostgreSQL, which does not run as root, must reach its data.
  chmodSync(folder, 0o755);
  return folder;
}

/** Whether the databases can be in memory: each test file creates and drops one, of hundreds of files. */
function hasMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY.folder);
    return bavail * bsize >= MEMORY.minFree;
  } catch {
    return false;
  }
}

/** In a session of its own, so that Ctrl-C does not end it. */
function startGuard(folders) {
  const program = path.join(import.meta.dirname, 'guard.mjs');
  const guard = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  guard.stdin.write(folders.join('\n'));
  guard.unref();
  guard.stdin.unref();
  return guard;
}

/** A killed npm leaves its script running. */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  setInterval(() => process.ppid === npm || process.kill(process.pid, 'SIGKILL'), 500).unref();
}
