// The processes that are measured: how each is started, known to serve, and ended.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const START_MS = 60_000;
const STOP_MS = 15_000;
/** Every one that was started and has not ended, so that nothing is left behind. */
const running = new Set();
let isOver = false;

/** A free port of the loopback interface. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Starts a Node program and waits until it serves.
 * @param options.script path from the root of the project
 * @param options.env settings on top of PORT; of this process's environment only the search path and the like stay
 * @param options.nodeArgs for Node itself
 * @param options.ownEnv of the program, whatever is compared
 * @param options.log file for standard output; nowhere unless given
 * @param options.ready path that is answered 200 once it serves; an open port is enough unless given
 * @returns the process with `startMs`, from spawning to serving
 */
export async function start({ name, script, env, log, ready, key, nodeArgs = [], ownEnv = {} }) {
  const port = await freePort();
  if (isOver) throw new Error('Nothing is started any more');
  const out = log === undefined ? 'ignore' : openSync(log, 'a');
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, script], {
    cwd: root,
    stdio: ['ignore', out, 'pipe'],
    env: { ...plainEnvironment(), NODE_ENV: 'production', HOST: '127.0.0.1', ...ownEnv, ...env, PORT: String(port) },
  });
  if (typeof out === 'number') closeSync(out);
  let complaints = '';
  child.stderr.on('data', (chunk) => (complaints = (complaints + chunk).slice(-4_000)));
  const exited = once(child, 'exit');
  const subject = { name, port, pid: child.pid, child, exited, startMs: 0 };
  running.add(subject);
  void exited.then(() => running.delete(subject));
  while (!(await (ready === undefined ? isOpen(port) : isServed(port, ready, key)))) {
    if (child.exitCode !== null) throw new Error(`${name} ended while it started:\n${complaints}`);
    if (performance.now() - began > START_MS) throw new Error(`${name} does not serve:\n${complaints}`);
    await sleep(5);
  }
  subject.startMs = performance.now() - began;
  return subject;
}

/** Runs a Node program to its end. @returns its standard output @throws Error with its standard error if it failed */
export async function output({ name, script, args, env }) {
  if (isOver) throw new Error('Nothing is started any more');
  const child = spawn(process.execPath, [script, ...args], { cwd: root, env: { ...plainEnvironment(), ...env } });
  const texts = { stdout: '', stderr: '' };
  for (const stream of Object.keys(texts)) child[stream].on('data', (chunk) => (texts[stream] += chunk));
  const program = { name, child, exited: once(child, 'close') };
  running.add(program);
  await program.exited;
  running.delete(program);
  if (child.exitCode !== 0) throw new Error(`${name} failed:\n${texts.stderr}`);
  return texts.stdout;
}

/** Ends a process as an administrator does, by force if it does not heed. */
export async function stop(subject) {
  subject.child.kill('SIGTERM');
  const cut = setTimeout(() => subject.child.kill('SIGKILL'), STOP_MS);
  if (subject.child.exitCode === null && subject.child.signalCode === null) await subject.exited;
  clearTimeout(cut);
}

/** Ends every process, and lets none be started after it. */
export function stopAll() {
  isOver = true;
  return Promise.all([...running].map(stop));
}

/** Resident memory of a process in MB; undefined where /proc does not tell. */
export function residentMb(pid) {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

/** The settings of whoever runs the benchmark must not reach the programs in it. */
function plainEnvironment() {
  const { PATH, HOME, TMPDIR, LANG, LD_LIBRARY_PATH } = process.env;
  return Object.fromEntries(Object.entries({ PATH, HOME, TMPDIR, LANG, LD_LIBRARY_PATH }).filter(([, v]) => v));
}

async function isOpen(port) {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function isServed(port, ready, key) {
  try {
    const headers = { Connection: 'close', ...(key && { Authorization: `Bearer ${key}` }) };
    const response = await fetch(`http://127.0.0.1:${port}${ready}`, { headers });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
