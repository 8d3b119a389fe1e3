import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, Worker } from 'node:worker_threads';

export interface ThreadOptions<Message> {
  /** Undefined: those of the process. */
  readonly limits?: ResourceLimits | undefined;
  readonly onMessage: (message: Message) => void;
  /** Called once, with the reason. */
  readonly onEnd: (reason: Error) => void;
}

const IS_SOURCE = import.meta.url.endsWith('.ts');

/** @param entry module that the thread runs, with the extension `.js` as in an import */
export function startThread<Message>(entry: URL, { limits, onMessage, onEnd }: ThreadOptions<Message>): Worker {
  // A limit of the process, as NODE_OPTIONS sets it, overrides the thread's; the heap of the process itself keeps it.
  if (limits) setFlagsFromString('--max-old-space-size=0');
  const file = fileURLToPath(entry);
  const worker = new Worker(IS_SOURCE ? file.replace(/\.js$/, '.ts') : file, {
    ...(limits && { resourceLimits: limits }),
    // A program that runs from its sources (`npm run accuracy`) starts its threads with the same loader.
    execArgv: IS_SOURCE ? ['--import', '@swc-node/register/esm-register'] : [],
  });
  let reason = new Error('The thread ended');
  worker.on('message', onMessage);
  worker.on('error', (error: Error) => (reason = error));
  worker.on('exit', () => onEnd(reason));
  return worker;
}
