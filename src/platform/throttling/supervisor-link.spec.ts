import type { SupervisorChannel, ToSupervisor, ToWorker } from '../cluster/messages.js';
import { WINDOW_MS } from './counters.js';
import { SharedCounters } from './shared-counters.js';
import { SupervisorCounters } from './supervisor-counters.js';
import { SUPERVISOR_TIMEOUT_MS, SupervisorLink } from './supervisor-link.js';

const LIMIT = 60;

/** A supervisor with its processes in one process: messages arrive a turn of the event loop later, as copies. */
class FakeSupervisor {
  readonly counters = new SupervisorCounters();
  readonly messages: ToSupervisor[] = [];
  answers = true;

  channel(): SupervisorChannel {
    const listeners: ((message: ToWorker) => void)[] = [];
    return {
      onMessage: (listener) => void listeners.push(listener),
      send: (message) => {
        this.messages.push(message);
        if (message.kind !== 'count' || !this.answers) return;
        const { batch, questions } = structuredClone(message);
        setImmediate(() => {
          const counts = this.counters.answer(questions);
          for (const listener of listeners) listener({ kind: 'counted', batch, counts });
        });
      },
    };
  }
}

describe('counters in the supervisor', () => {
  let supervisor: FakeSupervisor;
  let links: SupervisorLink[];

  beforeEach(() => {
    supervisor = new FakeSupervisor();
    links = [];
  });
  afterEach(() => links.forEach((link) => link.close()));

  const process = () => {
    const link = new SupervisorLink(supervisor.channel());
    links.push(link);
    return new SharedCounters(link);
  };
  const hits = async (counters: SharedCounters, count: number, key = 'workspace:a') => {
    const all = Array.from({ length: count }, () => counters.increment(key, WINDOW_MS, LIMIT));
    return (await Promise.all(all)).map(({ totalHits }) => totalHits);
  };
  const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

  it('give every request of all processes a number of its own, and one and the same end of the window', async () => {
    const processes = [process(), process(), process(), process()];
    const numbers = (await Promise.all(processes.map((one) => hits(one, 50)))).flat();
    expect(numbers.sort((a, b) => a - b)).toEqual(upTo(200));
    const ends = await Promise.all(processes.map((one) => one.peek('workspace:a', WINDOW_MS, LIMIT)));
    expect(new Set(ends.map(({ resetAt }) => resetAt)).size).toBe(1);
    expect(ends.map(({ totalHits, isBlocked }) => [totalHits, isBlocked])).toEqual(Array(4).fill([200, true]));
  });

  it('are asked once for all requests of a turn of the event loop', async () => {
    expect(await hits(process(), 100)).toEqual(upTo(100));
    expect(supervisor.messages).toHaveLength(1);
  });

  it('are looked at without counting', async () => {
    const one = process();
    expect((await one.peek('workspace:a', WINDOW_MS, LIMIT)).totalHits).toBe(0);
    expect(await hits(one, 1)).toEqual([1]);
  });

  it('know a process that begins anew no less than the others', async () => {
    expect(await hits(process(), 60)).toEqual(upTo(60));
    expect((await process().increment('workspace:a', WINDOW_MS, LIMIT)).isBlocked).toBe(true);
  });

  it('are counted on by each process while there is no answer, and hear of it afterwards', async () => {
    const one = process();
    expect(await hits(one, 10)).toEqual(upTo(10));
    supervisor.answers = false;
    const since = performance.now();
    expect(await hits(one, 5)).toEqual([11, 12, 13, 14, 15]);
    expect(performance.now() - since).toBeGreaterThan(SUPERVISOR_TIMEOUT_MS - 10);
    // Waited for once and no more.
    const again = performance.now();
    expect(await hits(one, 5)).toEqual([16, 17, 18, 19, 20]);
    expect(performance.now() - again).toBeLessThan(SUPERVISOR_TIMEOUT_MS / 2);

    supervisor.answers = true;
    while (links[0]?.generation === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await hits(one, 1)).toEqual([21]);
    expect(await hits(process(), 1)).toEqual([22]);
  });
});
