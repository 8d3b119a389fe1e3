import type { InProcessMediaAgentFactory } from '../../../../../libs/simulation/index.js';

/** A connection that takes this time in each direction. */
export const delayed =
  (oneWayMs: number, factory: InProcessMediaAgentFactory): InProcessMediaAgentFactory =>
  (socket) => {
    let now = 0;
    const inbound = new Queue();
    const outbound = new Queue();
    const agent = factory({
      send: (data) => outbound.push(now + oneWayMs, () => socket.send(data)),
      close: (...how) => outbound.push(now + oneWayMs, () => socket.close(...how)),
    });
    return {
      onMessage: (at, data) => inbound.push(at + oneWayMs, (due) => agent.onMessage(due, data)),
      tick: (at) => {
        now = at;
        inbound.run(now);
        agent.tick(now);
        outbound.run(now);
      },
    };
  };

class Queue {
  private readonly due: { readonly at: number; readonly run: (now: number) => void }[] = [];

  push(at: number, run: (now: number) => void): void {
    this.due.push({ at, run });
  }

  run(now: number): void {
    while (this.due[0] && this.due[0].at <= now) this.due.shift()!.run(now);
  }
}
