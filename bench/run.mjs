// `npm run bench [-- --quick]` and `npm run bench -- --profile <work> [--subject <name>]`: see docs/performance.md.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem, type as systemType } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { makeWorkspaces, openDatabase, seed, SIZES } from './harness/database.mjs';
import { coldStarts, embeddedStarts, growth, logs, Memory, twoProcesses } from './harness/extras.mjs';
import { Load } from './harness/load.mjs';
import { expectedMs, matrix } from './harness/matrix.mjs';
import { countUpLists } from './harness/lists.mjs';
import { picture } from './harness/picture.mjs';
import { PLANS } from './harness/plan.mjs';
import { root, stop, stopAll } from './harness/processes.mjs';
import { profile } from './harness/profile.mjs';
import { Progress } from './harness/progress.mjs';
import { report } from './harness/report.mjs';
import { checkSubjects } from './harness/self-check.mjs';
import { startSubjects, SUBJECTS } from './harness/subjects.mjs';
import { targets } from './harness/targets.mjs';
import { CONNECTIONS, LARGE_LISTS, SMALL_LIST, works } from './harness/works.mjs';

/** What the steps around the comparison take on a small machine, for the bar. */
const SEED_MS = 45_000;
const START_MS = 1_500;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    profile: { type: 'string' },
    subject: { type: 'string', default: 'service' },
  },
});
const plan = PLANS[options.quick ? 'quick' : 'full'];
const directory = await mkdtemp(path.join(tmpdir(), 'bench-'));
const load = new Load();
const opening = openDatabase(directory);
let ending;

/** Leaves nothing behind, whatever happened; the second call waits for the first. */
function end() {
  ending ??= (async () => {
    load.close();
    await stopAll();
    // Also when it is only being opened: it would outlive this process.
    await opening.then(({ server }) => server.close());
    await rm(directory, { recursive: true, force: true });
  })();
  return ending;
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => void end().finally(() => process.exit(130)));
}

async function main() {
  const { env } = await opening;
  const database = { env, workspaces: await makeWorkspaces(env) };
  if (options.profile !== undefined) return runProfile(database, options.profile);
  const all = works(database.workspaces);
  const matrixMs = expectedMs(all, SUBJECTS, plan);
  const startsMs = (5 * plan.starts + 1) * START_MS;
  const compareMs = 2 * (plan.rounds * plan.roundMs + plan.warmMs);
  const growthMs = (1 + LARGE_LISTS.length) * CONNECTIONS.length * plan.rounds * plan.roundMs;
  const progress = new Progress(SEED_MS + startsMs + matrixMs + growthMs + 6 * compareMs + 7 * plan.heatMs);

  let seeded = 0;
  const postgres = await seed(database, (share) => {
    progress.step((share - seeded) * SEED_MS, 'a million agents');
    seeded = share;
  });
  await countUpLists(database);
  const onStart = (name) => progress.step(START_MS, `start, ${name}`);
  const embedded = await embeddedStarts(directory, plan, onStart);
  const starts = await coldStarts(database, plan, onStart);

  const subjects = await startSubjects(env);
  const memory = await Memory.watch(subjects);
  await checkSubjects(subjects, database.workspaces);
  const cells = await matrix(load, subjects, all, plan, progress);
  const used = memory.end();
  await Promise.all(subjects.map(stop));

  const lists = { ...database, works: all.filter(({ id }) => [SMALL_LIST, ...LARGE_LISTS].includes(id)) };
  const few = { ...database, directory, works: all.filter(({ id }) => id === 'get-one' || id === SMALL_LIST) };
  const onRound = (name) => progress.step(plan.roundMs, name);
  const run = {
    plan,
    machine: machine(postgres),
    cells,
    embedded,
    starts,
    memory: used,
    growth: await growth(load, lists, plan, onRound),
    logs: await logs(load, few, plan, onRound),
    processes: await twoProcesses(load, few, plan, onRound),
  };
  progress.end();
  await write(run);
}

function machine(postgres) {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: systemType(),
    node: process.versions.node,
    postgres,
  };
}

async function write(run) {
  const folder = path.join(root, 'bench/results');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'latest.md'), report(run));
  await writeFile(path.join(folder, 'latest.svg'), picture(run.cells));
  for (const { target, measured, isMet } of targets(run)) {
    const verdict = isMet === undefined ? 'not measured' : isMet ? 'met' : 'MISSED';
    process.stdout.write(`${verdict.padEnd(13)}${target}\n  ${measured.replaceAll('<br>', '\n  ')}\n`);
  }
  process.stdout.write('\nWritten: bench/results/latest.md and bench/results/latest.svg\n');
}

async function runProfile(database, work) {
  const all = works(database.workspaces);
  const found = all.find(({ id }) => id === work);
  if (!found) throw new Error(`--profile takes one of ${all.map(({ id }) => id).join(', ')}`);
  // A million agents only for a work that asks for them.
  const sizes = { ...SIZES, ...(!work.includes('1m') && { million: 1 }) };
  await seed(database, () => undefined, sizes);
  await countUpLists(database, sizes);
  process.stdout.write(await profile(load, found, options.subject, database.env, directory));
}

try {
  await main();
} catch (error) {
  // Ending makes whatever is under way fail; that is no news.
  if (!ending) process.stderr.write(`\n${error.stack}\n`);
  process.exitCode = 1;
}
await end();
