// What besides throughput counts: starting, memory, logs, and a second process.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { heatUp, inTurn } from './matrix.mjs';
import { residentMb, start, stop } from './processes.mjs';
import { median } from './statistics.mjs';
import { SUBJECTS } from './subjects.mjs';
import { CONNECTIONS as ALL_CONNECTIONS } from './works.mjs';

const CONNECTIONS = 32;
const SAMPLE_MS = 250;
const [SERVICE] = SUBJECTS;

/** From starting a process to its first answer to GET one agent, all on the running database; milliseconds by name. */
export async function coldStarts({ env, workspaces: { thousand } }, { starts }, onStart) {
  const times = Object.fromEntries(SUBJECTS.map(({ name }) => [name, []]));
  for (let i = 0; i < starts; i++) {
    for (const one of SUBJECTS) {
      onStart(one.name);
      const ready = `/agents/${thousand.ids[0]}`;
      const subject = await start({ ...one, env, ready, key: thousand.apiKey });
      times[one.name].push(subject.startMs);
      await stop(subject);
    }
  }
  return times;
}

/** From starting the service to GET /readyz answered 200, with the embedded database in its own folder; milliseconds. */
export async function embeddedStarts(directory, { starts }, onStart) {
  const times = { first: [], existing: [] };
  for (let i = 0; i <= starts; i++) {
    onStart('embedded database');
    const env = { DATA_DIR: path.join(directory, 'embedded'), LOG_LEVEL: 'warn', LOG_FORMAT: 'json' };
    const subject = await start({ ...SERVICE, env, ready: '/readyz' });
    times[i === 0 ? 'first' : 'existing'].push(subject.startMs);
    await stop(subject);
  }
  return times;
}

/** Watches the resident memory of processes. */
export class Memory {
  constructor(subjects) {
    this.subjects = subjects;
    this.idle = this.now();
    this.most = { ...this.idle };
    this.timer = setInterval(() => {
      for (const [name, mb] of Object.entries(this.now())) this.most[name] = Math.max(this.most[name] ?? 0, mb ?? 0);
    }, SAMPLE_MS);
  }

  static async watch(subjects) {
    await sleep(1_000);
    return new Memory(subjects);
  }

  now() {
    return Object.fromEntries(this.subjects.map(({ name, pid }) => [name, residentMb(pid)]));
  }

  /** @returns MB by name: at rest after the start, and the most that was ever seen */
  end() {
    clearInterval(this.timer);
    return { idle: this.idle, loaded: this.most };
  }
}

/** The service and the hand-written Express server, each with and without a line for every request in a file. */
export async function logs(load, { env, works, directory }, plan, onRound) {
  const [service, express] = SUBJECTS;
  const log = (name) => path.join(directory, `${name}.log`);
  const logging = { service: { LOG_LEVEL: 'info' }, express: { LOG: '1' } };
  const subjects = [];
  for (const one of [service, express]) {
    const { name } = one;
    subjects.push(await start({ ...one, env }));
    const settings = { ...env, ...logging[name] };
    subjects.push(await start({ ...one, name: `${name}+log`, env: settings, log: log(name) }));
  }
  try {
    await heatUp(load, subjects, works[0], plan);
    return await compare(load, subjects, works, plan, onRound);
  } finally {
    await Promise.all(subjects.map(stop));
  }
}

/**
 * A small list and pages of a large one, of the service alone and in turn: measured minutes apart, the machine's own ups and
 * downs would be larger than what is looked for.
 * @returns `{ connections, results }` for each number of connections, by work what `inTurn` returns
 */
export async function growth(load, { env, works }, plan, onRound) {
  const service = await start({ ...SERVICE, env });
  const lists = works.map(({ id, requests }) => ({ name: id, port: service.port, requests }));
  try {
    await heatUp(load, [service], works[0], plan);
    await inTurn(load, lists, { connections: CONNECTIONS, rounds: 1, ms: plan.warmMs });
    const cells = [];
    for (const connections of ALL_CONNECTIONS) {
      const results = await inTurn(load, lists, { connections, rounds: plan.rounds, ms: plan.roundMs, onRound });
      cells.push({ connections, results });
    }
    return cells;
  } finally {
    await stop(service);
  }
}

/** One process against two that share the load, on the same database. */
export async function twoProcesses(load, { env, works }, plan, onRound) {
  const processes = [];
  for (const name of ['first', 'second']) processes.push(await start({ ...SERVICE, name, env }));
  const [{ port }] = processes;
  const subjects = [
    { name: 'one', port },
    { name: 'two', ports: processes.map((process) => process.port) },
  ];
  try {
    await heatUp(load, processes, works[0], plan);
    return await compare(load, subjects, works, plan, onRound);
  } finally {
    await Promise.all(processes.map(stop));
  }
}

/** @returns by work what `inTurn` returns */
async function compare(load, subjects, works, { rounds, roundMs, warmMs }, onRound) {
  const results = {};
  for (const { id, requests } of works) {
    await inTurn(load, subjects, { requests, connections: CONNECTIONS, rounds: 1, ms: warmMs, onRound });
    results[id] = await inTurn(load, subjects, { requests, connections: CONNECTIONS, rounds, ms: roundMs, onRound });
  }
  return results;
}

/** Median requests per second of a subject. */
export const rateOf = (results, name) => median(results[name].rate);
