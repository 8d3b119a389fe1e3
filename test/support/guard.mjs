import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Ends what a test run leaves behind when it is killed: `node guard.mjs`, started by the global setup in a session of its
 * own. Standard input names the run's temporary folders, a line each, and is closed when the run ends in whatever way.
 */

/** How long processes may take to end, milliseconds. */
const TIMEOUT_MS = 20_000;

let input = '';
for await (const chunk of process.stdin) input += chunk;
if (input === '') process.exit();
const folders = input.split('\n');

for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await sleep(50)) {
  const left = leftProcesses();
  if (left.length === 0) break;
  for (const { pid, command } of left) {
    try {
      // PostgreSQL ends at once on SIGQUIT, with its processes and its shared memory.
      process.kill(pid, /\/postgres -D /.test(command) ? 'SIGQUIT' : 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });

/** Processes with one of the folders in their arguments or environment, and their descendants. */
function leftProcesses() {
  const columns = 'pid=,ppid=,stat=,command=';
  const options = process.platform === 'darwin' ? ['-axEwwo', columns] : ['axewwo', columns];
  const rows = execFileSync('ps', options, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\n')
    .map((row) => /^ *(\d+) +(\d+) +(\S+) (.*)$/.exec(row))
    .filter((row) => row !== null)
    .map(([, pid, parent, state, command]) => ({ pid: Number(pid), parent: Number(parent), state, command }))
    .filter(({ state }) => !state.startsWith('Z'));
  const found = new Set(rows.filter(({ command }) => folders.some((folder) => command.includes(folder))));
  for (const row of found) for (const other of rows) if (other.parent === row.pid) found.add(other);
  return [...found];
}
