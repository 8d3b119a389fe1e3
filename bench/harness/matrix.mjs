// The heart of it: every subject, every work, every number of connections, in turns.
import { availableParallelism } from 'node:os';
import { CONNECTIONS } from './works.mjs';
import { SLOW_MS } from './plan.mjs';
import { median } from './statistics.mjs';

/**
 * Measures subjects in turn (A B C A B C …), so that what else the machine does hits all alike.
 * @param requests what is asked of those that bring no `requests` of their own
 * @returns by name of the subject `{ rate: number[], p50: number[], p99: number[], errors: number }`, a value a round
 */
export async function inTurn(load, subjects, { requests, connections, rounds, ms, onRound = () => undefined }) {
  const results = {};
  for (const { name } of subjects) results[name] = { rate: [], p50: [], p99: [], errors: 0 };
  for (let round = 0; round < rounds; round++) {
    for (const { name, port, ports = [port], requests: asked = requests } of subjects) {
      onRound(name);
      const { errors, ...measured } = await load.measure({ ports, requests: asked, connections, ms });
      for (const [key, value] of Object.entries(measured)) results[name][key].push(value);
      for (const count of Object.values(errors)) results[name].errors += count;
    }
  }
  return results;
}

/** What `matrix` takes, as far as it is known before anything was measured. @returns milliseconds */
export const expectedMs = (works, subjects, plan) =>
  plan.heatMs * subjects.length +
  works.length * subjects.length * (2 * plan.warmMs + CONNECTIONS.length * plan.rounds * plan.roundMs);

/**
 * @returns `{ work, title, connections, results }` for each work and number of connections; see `inTurn`. A subject that
 *   would take too long is not among the results.
 */
export async function matrix(load, subjects, works, plan, progress) {
  const cells = [];
  await heatUp(load, subjects, works[0], plan);
  progress.step(plan.heatMs * subjects.length, 'warm-up');
  for (const { id, title, requests } of works) {
    await warmUp(load, subjects, requests, plan);
    progress.step(2 * plan.warmMs * subjects.length, id);
    /** Of each subject, how long one request takes by itself. */
    let alone = {};
    for (const connections of CONNECTIONS) {
      const asked = subjects.filter(({ name }) => isWorthAsking(alone[name] ?? 0, connections, plan));
      const rounds = Math.max(0, ...Object.values(alone)) > SLOW_MS ? plan.slowRounds : plan.rounds;
      const stepMs = (plan.rounds / rounds) * plan.roundMs;
      const onRound = (name) => progress.step(stepMs, `${id}, ${connections} connections, ${name}`);
      const results = await inTurn(load, asked, { requests, connections, rounds, ms: plan.roundMs, onRound });
      progress.step(plan.rounds * plan.roundMs * (subjects.length - asked.length), id);
      if (connections === 1) alone = mapValues(results, ({ p50 }) => median(p50));
      cells.push({ work: id, title, connections, results });
    }
  }
  return cells;
}

/** Whether the answers that are owed at the end of a round come soon enough; they share PostgreSQL's processors. */
const isWorthAsking = (aloneMs, connections, { mostDrainMs }) =>
  aloneMs <= SLOW_MS || (aloneMs * connections) / availableParallelism() <= mostDrainMs;

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** Makes processes that have just started as fast as they become. */
export const heatUp = (load, subjects, { requests }, { heatMs }) =>
  inTurn(load, subjects, { requests, connections: 32, rounds: 1, ms: heatMs });

/** Accustoms them to another work. */
async function warmUp(load, subjects, requests, { warmMs }) {
  for (const { port } of subjects) {
    const { p50 } = await load.measure({ ports: [port], requests, connections: 1, ms: warmMs });
    if (p50 <= SLOW_MS) await load.measure({ ports: [port], requests, connections: 32, ms: warmMs });
  }
}
