import { parentPort } from 'node:worker_threads';
import { type HostedTask, hostTask } from './hosted-task.js';
import type { RequestMessage, RequestReply } from './messages.js';
import { Peer } from './peer.js';

const port = parentPort;
if (!port) throw new Error('This module runs in a worker thread');

const reply = (message: RequestReply) => port.postMessage(message);
const open = new Map<number, { readonly peer: Peer; readonly task: HostedTask }>();

function begin({ id, opened, timeOrigin }: Extract<RequestMessage, { type: 'open' }>): void {
  const main: Pick<Peer, 'ask' | 'tell'> = {
    ask: (...asked) => peer.ask(...asked),
    tell: (...told) => peer.tell(...told),
  };
  const task = hostTask(opened, timeOrigin, main);
  const peer = new Peer((message) => reply({ type: 'peer', id, message }), task.methods);
  open.set(id, { peer, task });
}

/** What still goes on, such as ending a call that was placed, may ask the main thread until it is over. */
async function close(id: number): Promise<void> {
  const { peer, task } = open.get(id)!;
  task.close();
  await peer.settled();
  open.delete(id);
  reply({ type: 'closed', id });
}

port.on('message', (message: RequestMessage) => {
  switch (message.type) {
    case 'open':
      return begin(message);
    case 'peer':
      return open.get(message.id)?.peer.receive(message.message);
    case 'close':
      return void close(message.id);
    case 'memory': {
      // Of this thread only, unlike the resident memory.
      const { heapUsed, external } = process.memoryUsage();
      return reply({ type: 'memory', bytes: heapUsed + external });
    }
    case 'crash':
      throw new Error('The thread was asked to crash');
    case 'block': {
      const until = performance.now() + message.ms;
      while (performance.now() < until);
    }
  }
});
