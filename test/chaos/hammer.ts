import { setTimeout as sleep } from 'node:timers/promises';
import { send } from './caller.js';
import type { Workspace } from './installation.js';
import type { Scene } from './virtual-client.js';

interface Hit {
  /** Time of the response, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** End of the window according to the response, in seconds since the Unix epoch. */
  readonly reset: number;
  readonly isAllowed: boolean;
}

export interface Window {
  readonly reset: number;
  readonly rejected: number;
  readonly allowed: number;
  /** Of these, those before Redis went down in this window; undefined if it was down when the window began. */
  readonly allowedUndisturbed: number | undefined;
}

/** About twenty requests per second from all callers together. */
const PAUSE_MS = 150;
const CALLERS = 3;
const WINDOW_S = 60;
/** The processes notice a change of Redis after a delay. */
const NOTICE_MS = 2_000;

/** Exceeds the rate limit of one workspace, on all API processes at once. */
export class Hammer {
  private readonly hits: Hit[] = [];
  private readonly outages: { from: number; to: number }[] = [];

  constructor(
    readonly workspace: Workspace,
    private readonly scene: Scene,
  ) {}

  redisDown(): void {
    this.outages.push({ from: Date.now(), to: Infinity });
  }

  redisUp(): void {
    this.outages.at(-1)!.to = Date.now() + NOTICE_MS;
  }

  async work(): Promise<void> {
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => this.call(caller)));
  }

  /** Requests allowed in each window. */
  windows(): Window[] {
    const byReset = new Map<number, Hit[]>();
    for (const hit of this.hits) {
      // Each process rounds on its own.
      const known = [...byReset.keys()].find((reset) => Math.abs(reset - hit.reset) <= 1) ?? hit.reset;
      byReset.set(known, [...(byReset.get(known) ?? []), hit]);
    }
    return [...byReset].map(([reset, hits]) => {
      const begin = (reset - WINDOW_S) * 1_000;
      const allowed = hits.filter(({ isAllowed }) => isAllowed);
      const outages = this.outages.filter(({ from, to }) => to > begin && from < hits.at(-1)!.at);
      const until = Math.min(...outages.map(({ from }) => from));
      return {
        reset,
        allowed: allowed.length,
        rejected: hits.length - allowed.length,
        allowedUndisturbed: until < begin ? undefined : allowed.filter(({ at }) => at < until).length,
      };
    });
  }

  private async call(caller: number): Promise<void> {
    const { urls } = this.scene;
    for (let n = caller; !this.scene.isOver; n++) {
      const outcome = await send(urls[n % urls.length]!, this.workspace.key, { method: 'GET', path: '/agents' }, 5_000);
      // While keys cannot be looked up, requests count against the client address.
      if (
        outcome.kind === 'response' &&
        outcome.headers.get('x-ratelimit-limit') === String(this.workspace.requestsPerMinute)
      ) {
        const reset = Number(outcome.headers.get('x-ratelimit-reset'));
        this.hits.push({ at: Date.now(), reset, isAllowed: outcome.status !== 429 });
      }
      await sleep(PAUSE_MS);
    }
  }
}
