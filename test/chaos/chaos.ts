import { setTimeout as sleep } from 'node:timers/promises';
import { type Disturbance, disturbances, together } from './disturbances.js';
import { documented, expectSameEntries } from './document.js';
import { Hammer } from './hammer.js';
import { Installation, type Workspace } from './installation.js';
import { AUDIT, type Finding, findings } from './invariants.js';
import { type ResourceUsage, resourceUsageOf } from './leaks.js';
import { Ledger } from './ledger.js';
import { OPERATIONS } from './operations.js';
import { Random } from './random.js';
import { RecoveryMeter } from './recovery.js';
import { VanishingClient } from './vanishing-client.js';
import { type Scene, VirtualClient } from './virtual-client.js';

export interface ChaosOptions {
  readonly seed: number;
  /** Minimum time of fault injection; each fault is injected at least once. */
  readonly disturbedMs: number;
  /** Idle time before memory, files and connections are measured. */
  readonly quietMs: number;
  readonly clientsPerWorkspace: number;
  readonly print: (line: string) => void;
}

/** More than the clients can send. */
const NO_LIMIT = 1_000_000_000;
const LIMIT = 40;
/** Covers leases and recovery sweeps. */
const SETTLE_MS = 45_000;
/** Time that a new process serves before its baseline is taken. */
const WARM_MS = 5_000;
const POLL_MS = 250;

/** Starts the installation, runs clients and faults against it, and returns one finding per invariant. */
export async function runChaos(installation: Installation, options: ChaosOptions): Promise<Finding[]> {
  expectSameEntries(
    'OPERATIONS in test/chaos/operations.ts',
    Object.keys(OPERATIONS),
    documented.map(({ operationId }) => operationId),
  );
  const { print } = options;
  const random = new Random(options.seed);
  const workspaces = await installation.start([NO_LIMIT, NO_LIMIT, LIMIT], { apis: 1, workers: 1 });
  const [first, second, limited] = workspaces as [Workspace, Workspace, Workspace];
  await installation.onDatabase((database) => database.query(AUDIT));
  const ledger = new Ledger();
  const scene: Scene = {
    operations: OPERATIONS,
    ledger,
    urls: installation.apis.map(({ url }) => url),
    receiverUrl: installation.receiver.url,
    print,
    during: 'the start',
    isOver: false,
    isClosed: false,
  };
  const clients: VirtualClient[] = [];
  for (const workspace of [first, second]) {
    const crew = Array.from({ length: options.clientsPerWorkspace }, (_, n) => {
      return new VirtualClient(`c${workspace.index}x${n}`, workspace, scene, random.fork());
    });
    await settleIn(crew, workspace, scene);
    clients.push(...crew);
  }
  const prober = new VirtualClient('probe', first, scene, random.fork());
  await prober.settleIn('');
  const meter = new RecoveryMeter(installation, first, scene, prober.base);
  const hammer = new Hammer(limited, scene);
  // Without Redis each process counts on its own from the start.
  if (!installation.redis) hammer.redisDown();
  const runs = () => ledger.entries.filter(({ kind, workspace }) => kind === 'runs' && workspace === second.index);
  const vanishing = new VanishingClient(second, scene, random.fork(), () => random.pick(runs())?.id);
  const baseline = new Map<string, ResourceUsage>();
  const recordNewBaselines = () => recordBaselines(installation, baseline);
  await recordNewBaselines();
  const sessionsBefore = await installation.sessions();

  const startedAt = performance.now();
  const progress = setInterval(() => print(progressLine(startedAt, scene)), 5_000);
  const work = [...clients.map((client) => client.work()), hammer.work(), vanishing.work()];
  try {
    await sleep(WARM_MS);
    const all = disturbances(installation, hammer, vanishing, random.fork());
    for (const next of program(all, random, () => performance.now() - startedAt < options.disturbedMs)) {
      scene.during = next.name;
      await next.begin();
      await sleep(next.holdMs);
      await next.end?.();
      const { readMs, writeMs, runMs } = await meter.measure(next.name);
      print(`${next.name}: reads after ${readMs} ms, writes after ${writeMs} ms, a run after ${runMs} ms`);
      await recordNewBaselines();
    }
    scene.during = 'the end';
    // Also waits for the processes that were restarted last.
    await installation.allServe();
    await sleep(WARM_MS);
    await recordNewBaselines();
    scene.isOver = true;
    await Promise.race([Promise.all(work), sleep(SETTLE_MS)]);
    scene.isClosed = true;
    print(`${progressLine(startedAt, scene)}; idle for at least ${options.quietMs / 1_000} s`);
    await Promise.all([sleep(options.quietMs), settle(installation)]);
  } finally {
    clearInterval(progress);
    scene.isOver = true;
    scene.isClosed = true;
  }
  return findings({ installation, workspaces, ledger, hammer, meter, baseline, sessionsBefore, random });
}

/** Creates the base resources of each client; the first client also owns those that a workspace has once. */
async function settleIn(crew: readonly VirtualClient[], workspace: Workspace, scene: Scene): Promise<void> {
  const [leader] = crew;
  if (!leader) return;
  // Receives the events of every run of the workspace.
  let webhookId = '';
  await leader.perform('createWebhook', {
    method: 'POST',
    path: '/workspace/webhooks',
    body: { url: scene.receiverUrl, events: ['run.completed', 'run.failed', 'webhook.test'] },
    expect: [201],
    done: ({ data }) => void (webhookId = data.id),
  });
  for (const client of crew) await client.settleIn(webhookId);
  leader.made({ kind: 'workspace', id: workspace.id, marker: `Chaos ${workspace.index}` });
  // Once before the faults: a change without a response makes the only resource of this kind uncertain for the rest of the test.
  await leader.perform('updateWorkspace', OPERATIONS.updateWorkspace!.plan(leader)!);
  crew.slice(0, 4).forEach((client, n) => {
    const provider = `AGENT_PROVIDER_${n + 1}`;
    client.made({ kind: 'provider-keys', id: provider, marker: provider }).state = 'gone';
  });
}

/** Each disturbance once, then a combination, then one or two at random while there is time. */
function* program(all: readonly Disturbance[], random: Random, hasTime: () => boolean): Generator<Disturbance> {
  const named = (part: string) => all.find(({ name }) => name.includes(part));
  yield* all;
  const both = [named('Redis killed'), named('-9 of an API'), named('-9 of PostgreSQL')];
  yield together(...both.filter((each) => each !== undefined));
  while (hasTime()) {
    const [one, other] = random.shuffled(all) as [Disturbance, Disturbance];
    // A server that is killed cannot start again while its folder is read-only.
    const isPair = random.integer(2) === 0 && ![one, other].some(({ name }) => name.includes('read-only'));
    const isSameTarget = one.name.includes('Redis') && other.name.includes('Redis');
    yield isPair && !isSameTarget ? together(one, other) : one;
  }
}

/**
 * Records the resource usage of each process that has run for `WARM_MS` and has no baseline yet. Before that, it has not opened
 * its pool of connections, its threads and the connections of its clients.
 */
async function recordBaselines(installation: Installation, baseline: Map<string, ResourceUsage>): Promise<void> {
  for (const service of installation.services) {
    for (const usage of await resourceUsageOf(service).catch(() => [])) {
      if (!baseline.has(usage.id) && Date.now() - usage.startedAt >= WARM_MS) baseline.set(usage.id, usage);
    }
  }
}

/** Waits until all runs have ended; the invariants report those that have not. */
async function settle(installation: Installation): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  const open = `SELECT (SELECT count(*) FROM runs WHERE status IN ('QUEUED', 'RUNNING'))
                     + (SELECT count(*) FROM webhook_deliveries WHERE status = 'PENDING' AND next_attempt_at < now()) AS n`;
  await installation.onDatabase(async (database) => {
    while (performance.now() < until && Number((await database.query(open)).rows[0].n) > 0) await sleep(POLL_MS);
  });
}

function progressLine(startedAt: number, { ledger, during }: Scene): string {
  const requests = [...ledger.outcomes.values()].reduce((sum, n) => sum + n, 0);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return `${seconds} s: ${requests} requests, ${ledger.acknowledged} writes, ${ledger.faults.length} faults; ${during}`;
}
