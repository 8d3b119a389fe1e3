import { Client } from 'pg';
import type { Hammer } from './hammer.js';
import { type Installation, MAX_CONNECTIONS } from './installation.js';
import type { Random } from './random.js';
import type { VanishingClient } from './vanishing-client.js';

/** One thing that goes wrong. */
export interface Disturbance {
  readonly name: string;
  /** How long it goes on, in milliseconds. */
  readonly holdMs: number;
  begin(): Promise<unknown> | void;
  /** Puts right what a person would have to put right. Recovery is measured from its end. */
  end?(): Promise<unknown> | void;
}

/** Connections that the hog leaves to the service; the server keeps some more for administrators. */
const LEFT_OVER = 2;

/** All that is done to an installation, in the order in which it is done first. */
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
            hammer.redisGoes();
            return redis.kill();
          },
          end: async () => {
            await redis.start();
            hammer.redisIsBack();
          },
        },
        {
          name: 'Redis stalled',
          holdMs: 2_000,
          begin: () => {
            hammer.redisGoes();
            redis.pause();
          },
          end: () => {
            redis.resume();
            hammer.redisIsBack();
          },
        },
      ]
    : [];
  return [
    { name: 'kill -9 of a worker', holdMs: 0, begin: () => any(installation.workers).end('SIGKILL') },
    { name: 'kill -9 of an API process', holdMs: 0, begin: () => any(installation.apis).end('SIGKILL') },
    { name: 'kill -9 of PostgreSQL', holdMs: 0, begin: () => installation.killPostgres() },
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
      begin: async () => {
        installation.makeReadOnly();
        // What is open stays writable; new sessions have nothing open.
        installation.proxy.cut();
        await installation.onDatabase((database) => database.query('CHECKPOINT')).catch(() => undefined);
      },
      end: () => installation.makeWritable(),
    },
    { name: 'a hundred clients vanish', holdMs: 0, begin: () => vanishing.burst(100) },
    ...redisGone,
  ];
}

/** Several at once: all begin together, and each ends in its turn. */
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

/** Sits on the database's connections and does nothing with them. */
class Hog {
  private sessions: Client[] = [];

  constructor(private readonly installation: Installation) {}

  async take(): Promise<void> {
    this.installation.proxy.cut();
    while (this.sessions.length < MAX_CONNECTIONS - LEFT_OVER) {
      const session = new Client({ connectionString: this.installation.databaseUrl });
      session.on('error', () => undefined);
      try {
        await session.connect();
      } catch {
        // The service took the others first. They are used up all the same.
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
