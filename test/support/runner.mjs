import TestRunner from 'jest-runner';

const projectOf = ({ context }) => context.config.displayName?.name;
const isRealTime = (test) => projectOf(test) === 'realtime';
const RANKS = { long: 0, realtime: 2 };
const rank = (test) => RANKS[projectOf(test)] ?? 1;

/**
 * Runs the long test files first, so that none of them is left over when the other workers have nothing to do: without the
 * durations of an earlier run, Jest sorts files by their size. The tests that measure real time come last and start when all
 * others have ended: they mostly wait, and nothing else delays them.
 */
export default class OrderedRunner extends TestRunner {
  runTests(tests, watcher, options) {
    const others = new Set(tests.filter((test) => !isRealTime(test)));
    const othersEnded = new Promise((resolve) => {
      const end = ([test]) => {
        others.delete(test);
        if (others.size === 0) resolve();
      };
      this.on('test-file-success', end);
      this.on('test-file-failure', end);
      if (others.size === 0) resolve();
    });
    // A worker waits for the listeners before it starts the file.
    this.on('test-file-start', ([test]) => (isRealTime(test) ? othersEnded : undefined));
    return super.runTests(
      tests.toSorted((one, other) => rank(one) - rank(other)),
      watcher,
      options,
    );
  }
}
