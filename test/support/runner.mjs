import { availableParallelism } from 'node:os';
import TestRunner from 'jest-runner';

const projectOf = ({ context }) => context.config.displayName?.name;
/** Also the calls of `smoke`. */
const isRealTime = (test) => projectOf(test) === 'realtime' || test.path.endsWith('/test/smoke/voice-calls.test.ts');
const RANKS = { smoke: 0, long: 0 };
const rank = (test) => (isRealTime(test) ? 2 : (RANKS[projectOf(test)] ?? 1));

/** With one per worker, three per core, calls compute for five sixths of the time, and some of them are late. */
const REAL_TIME_FILES = 2 * availableParallelism();

/**
 * Runs the long test files first, so that none of them is left over when the other workers have nothing to do: without the
 * durations of an earlier run, Jest sorts files by their size. The tests that measure real time come last and start when all
 * others have ended, some at a time: they mostly wait, and nothing else delays them.
 */
export default class OrderedRunner extends TestRunner {
  runTests(tests, watcher, options) {
    const others = new Set(tests.filter((test) => !isRealTime(test)));
    const waiting = [];
    let running = 0;
    const startWaiting = () => {
      while (others.size === 0 && running < REAL_TIME_FILES && waiting.length > 0) {
        running++;
        waiting.shift()();
      }
    };
    const end = ([test]) => {
      if (isRealTime(test)) running--;
      else others.delete(test);
      startWaiting();
    };
    this.on('test-file-success', end);
    this.on('test-file-failure', end);
    // A worker waits for the listeners before it starts the file.
    this.on('test-file-start', ([test]) => {
      if (!isRealTime(test)) return undefined;
      const started = new Promise((resolve) => waiting.push(resolve));
      startWaiting();
      return started;
    });
    return super.runTests(
      tests.toSorted((one, other) => rank(one) - rank(other)),
      watcher,
      options,
    );
  }
}
