import { Client } from 'pg';
import type { Hammer } from './hammer.js';
import type { Installation } from './installation.js';
import type { Random } from './random.js';
import type { VanishingClient } from './vanishing-client.js';

/** One injected fault. */
export interface Disturbance {
  readonly name: string;
  /** Duration in milliseconds. */
  readonly holdMs: number;
  begin(): Promise<unknown> | void;
  /** Repairs what an administrator would have to repair. Recovery is measured from here. */
  end?(): Promise<unknown> | void;
}

/** Connections left to the service; the server reserves some more for administrators. */
const LEFT_OVER = 2;

/** All faults, in the order of their first injection. */
export function disturbances(
  installation: Installation,
  hammer: Hammer,
  vanishing: VanishingClient,
  random: Random,
): Disturbance[] {
  const { redis } = installation;
  const any = <T>(services: readonly T[]): T => random.pick(services)!;
  const hog = new Hog(installation);
  const redisGone: Disturbance[] = redis
    ? [
        {
          name: 'Redis killed and started',
          holdMs: 3_000,
          begin: () => {
            hammer.redisDown();
            return redis.kill();
          },
          end: async () => {
            await redis.start();
            hammer.redisUp();
          },
        },
        {
          name: 'Redis stalled',
          holdMs: 2_000,
          begin: () => {
            hammer.redisDown();
            redis.pause();
          },
          end: () => {
            redis.resume();
            hammer.redisUp();
          },
        },
      ]
    : [];
  return [
    { name: 'kill -9 of a worker', holdMs: 0, begin: () => any(installation.workers).end('SIGKILL') },
    { name: 'kill -9 of an API process', holdMs: 0, begin: () => any(installation.apis).end('SIGKILL') },
    { name: 'kill -9 of the worker process beside an API', holdMs: 0, begin: () => installation.main.killWorker() },
    { name: "kill -9 of PostgreSQL's postmaster", holdMs: 0, begin: () => installation.killPostmaster() },
    { name: 'SIGTERM of an API process', holdMs: 0, begin: () => any(installation.apis).end('SIGTERM') },
    { name: 'SIGTERM of a worker', holdMs: 0, begin: () => any(installation.workers).end('SIGTERM') },
    {
      name: 'network to the database cut',
      holdMs: 1_500,
      begin: () => {
        installation.proxy.open = false;
        installation.proxy.cut();
      },
      end: () => void (installation.proxy.open = true),
    },
    {
      name: 'network to the database stalled',
      holdMs: 3_000,
      begin: () => installation.proxy.stall(),
      end: () => installation.proxy.resume(),
    },
    { name: 'connections used up', holdMs: 3_000, begin: () => hog.take(), end: () => hog.giveBack() },
    {
      name: "database's folder read-only",
      holdMs: 2_500,
      begin: () =>
        installation.onDatabase(async (database) => {
          // Open files stay writable; new sessions have no open files. The first cut opens those of this session.
          await installation.cutConnections(database);
          installation.makeReadOnly();
          await installation.cutConnections(database);
          await database.query('CHECKPOINT').catch(() => undefined);
        }),
      end: () => installation.makeWritable(),
    },
    { name: 'a hundred clients disconnect', holdMs: 0, begin: () => vanishing.burst(100) },
    ...redisGone,
  ];
}

/** Several faults that begin together and end one after the other. */
export function together(...several: readonly Disturbance[]): Disturbance {
  return {
    name: several.map(({ name }) => name).join(' + '),
    holdMs: Math.max(...several.map(({ holdMs }) => holdMs)),
    begin: () => Promise.all(several.map(async (each) => each.begin())),
    end: async () => {
      for (const each of several) await each.end?.();
    },
  };
}

/** Holds idle connections to the database. */
class Hog {
  private sessions: Client[] = [];

  constructor(private readonly installation: Installation) {}

  async take(): Promise<void> {
    await this.installation.onDatabase((database) => this.installation.cutConnections(database));
    const most = (await this.installation.maxConnections()) - LEFT_OVER;
    while (this.sessions.length < most) {
      const session = new Client({ connectionString: this.installation.databaseUrl });
      session.on('error', () => undefined);
      try {
        await session.connect();
      } catch {
        // The service took the other slots first: there are none left either way.
        return;
      }
      this.sessions.push(session);
    }
  }

  async giveBack(): Promise<void> {
    const { sessions } = this;
    this.sessions = [];
    await Promise.all(sessions.map((session) => session.end().catch(() => undefined)));
  }
}
