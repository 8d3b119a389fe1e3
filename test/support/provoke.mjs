// Loaded into the processes of a service by NODE_OPTIONS: makes errors that nothing catches. The service has no such switch.
import { readFileSync, rmSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { isMainThread, Worker } from 'node:worker_threads';

const PROVOKED = {
  listener: () => {
    throw new Error('Provoked in a listener');
  },
  timer: () => void setTimeout(PROVOKED.listener, 1),
  rejection: () => void Promise.reject(new Error('Provoked in a promise')),
};

// While the body of a request arrives whose header x-provoke says how.
const { emit } = IncomingMessage.prototype;
IncomingMessage.prototype.emit = function (event, ...values) {
  const how = this.headers['x-provoke'];
  if (event === 'data' && how !== undefined) {
    delete this.headers['x-provoke'];
    PROVOKED[how]();
  }
  return emit.call(this, event, ...values);
};

// When a call next asks its thread for something, if a file says how. The requests to its agent are made in that thread.
const file = process.env.PROVOKE_FILE;
if (file !== undefined && isMainThread) {
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (...message) {
    let how;
    try {
      how = readFileSync(file, 'utf8');
      rmSync(file);
    } catch {
      // Not now.
    }
    PROVOKED[how]?.();
    return postMessage.apply(this, message);
  };
}

if (isMainThread) process.once('SIGWINCH', PROVOKED.listener);
