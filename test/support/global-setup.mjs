import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BUILD, buildSources } from './build.mjs';

export default async function globalSetup() {
  endWithNpm();
  const folder = createFolder();
  globalThis.testGuard = startGuard(folder);
  // Jest workers inherit only the environment.
  process.env.TMPDIR = folder;
  await buildSources();
  process.env.TEST_BUILD = BUILD;
  const { startTestPostgres } = await import(path.join(BUILD, 'test/support/test-postgres.js'));
  globalThis.testPostgres = await startTestPostgres();
  process.env.TEST_DATABASE_URL = globalThis.testPostgres.url;
}

/** The temporary folder of everything that this run creates; the guard recognises the run's processes by its name. */
function createFolder() {
  // Synthesis takes long, so that runs share what they have synthesised.
  const speech = path.join(tmpdir(), 'reference-agent-speech');
  mkdirSync(speech, { recursive: true });
  const folder = mkdtempSync(path.join(tmpdir(), 'voice-agent-testing-'));
  // PostgreSQL, which does not run as root, must reach its data.
  chmodSync(folder, 0o755);
  symlinkSync(speech, path.join(folder, 'reference-agent-speech'));
  return folder;
}

/** In a session of its own, so that Ctrl-C does not end it. */
function startGuard(folder) {
  const program = path.join(import.meta.dirname, 'guard.mjs');
  const guard = spawn(process.execPath, [program], { detached: true, stdio: ['pipe', 'ignore', 'inherit'] });
  guard.stdin.write(folder);
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
