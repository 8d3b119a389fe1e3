// Starts and stops the measured processes.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const root = path.dirname(import.meta.dirname);
const START_MS = 60_000;
const STOP_MS = 15_000;
/** Settings of the caller's shell must not reach the servers. */
const ENVIRONMENT = { PATH: process.env.PATH, HOME: process.env.HOME };
const running = new Set();

/** What `npm start` runs after the build. `exec` makes the shell's pid that of Node. */
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
export const SERVICE = scripts.start.split('&&').at(-1);
export const EXPRESS = 'exec node bench/baselines/express.mjs';

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a server and waits until it responds.
 * @param command for the shell, replaced by the server with `exec`
 * @param env settings, on top of a minimal environment and PORT
 * @returns the process with its `url`, and `startMs` until the first response
 */
export async function start(command, env) {
  const port = await freePort();
  const begin = performance.now();
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...ENVIRONMENT, NODE_ENV: 'production', HOST: '127.0.0.1', ...env, PORT: String(port) },
  });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4_000)));
  const server = { url: `http://127.0.0.1:${port}`, pid: child.pid, child, exited: once(child, 'exit'), startMs: 0 };
  running.add(server);
  void server.exited.then(() => running.delete(server));
  while (!(await isReady(server.url))) {
    if (child.exitCode !== null) throw new Error(`${command} ended during its start:\n${errors}`);
    if (performance.now() - begin > START_MS) throw new Error(`${command} does not respond:\n${errors}`);
    await sleep(5);
  }
  server.startMs = performance.now() - begin;
  return server;
}

/** The baseline has no health check: its 401 counts as ready, a 503 of the service does not. */
async function isReady(url) {
  try {
    const response = await fetch(`${url}/readyz`, { headers: { connection: 'close' } });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}

/** Runs a script to its end. @returns its standard output */
export async function output(script, args, env) {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...ENVIRONMENT, ...env },
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${code}`);
  return text;
}

/** Terminates a server, after 15 s with SIGKILL. */
export async function stop(server) {
  server.child.kill('SIGTERM');
  const timer = setTimeout(() => server.child.kill('SIGKILL'), STOP_MS);
  if (running.has(server)) await server.exited;
  clearTimeout(timer);
}

export const stopAll = () => Promise.all([...running].map(stop));

/**
 * Largest resident memory so far of a server and of the processes that it started, in MB. PostgreSQL is not one of them,
 * because pg_ctl detaches it. Linux only.
 * @returns `{ largest, sum }` over the processes
 */
export function peakMemory({ pid }) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  const children = stdout.trim().split(/\s+/).filter(Boolean);
  const peaks = [pid, ...children].map(
    (each) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${each}/status`, 'utf8'))[1]) / 1024,
  );
  return { largest: Math.max(...peaks), sum: peaks.reduce((sum, peak) => sum + peak, 0) };
}
