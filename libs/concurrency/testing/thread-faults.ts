import { parentPort, type Worker } from 'node:worker_threads';
import type { OwnedThread } from '../owned-threads.js';

type Fault = { readonly type: 'crash' } | { readonly type: 'block'; readonly ms: number };

/** Blocks a thread of calls if it runs with `obeyFaults`: the tester stalls. */
export const block = (thread: OwnedThread, ms: number): void => send(thread, { type: 'block', ms });

/** Ends a thread of calls unexpectedly if it runs with `obeyFaults`. */
export const crash = (thread: OwnedThread): void => send(thread, { type: 'crash' });

/** In a thread of tests: does what `block` and `crash` ask for. The thread's own module ignores those messages. */
export function obeyFaults(): void {
  parentPort!.on('message', (message: Fault) => {
    if (message.type === 'crash') throw new Error('The thread was asked to crash');
    if (message.type !== 'block') return;
    const until = performance.now() + message.ms;
    while (performance.now() < until);
  });
}

function send(thread: OwnedThread, fault: Fault): void {
  (thread as unknown as { readonly worker: Worker | undefined }).worker?.postMessage(fault);
}
