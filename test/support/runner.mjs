import TestRunner from 'jest-runner';

const projectOf = ({ context }) => context.config.displayName?.name;
const isLong = (test) => projectOf(test) === 'long';
const isRealTime = (test) => projectOf(test) === 'realtime';

/**
 * Runs the long test files first, so that none of them is left over when the other workers have nothing to do: without the
 * durations of an earlier run, Jest sorts files by their size. The tests that measure real time come last, seven files at a
 * time: they mostly wait, and nothing else delays them.
 */
export default class OrderedRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    const others = tests.filter((test) => !isRealTime(test));
    await super.runTests(
      others.toSorted((one, other) => isLong(other) - isLong(one)),
      watcher,
      options,
    );
    this._globalConfig = { ...this._globalConfig, maxWorkers: 7 };
    await super.runTests(tests.filter(isRealTime), watcher, options);
  }
}
