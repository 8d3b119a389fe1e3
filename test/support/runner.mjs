import TestRunner from 'jest-runner';

const isRealTime = ({ context }) => context.config.displayName?.name === 'realtime';

/** Runs the tests that measure real time last, two files at a time: they mostly wait, and nothing else delays them. */
export default class OrderedRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    await super.runTests(
      tests.filter((test) => !isRealTime(test)),
      watcher,
      options,
    );
    this._globalConfig = { ...this._globalConfig, maxWorkers: 2 };
    await super.runTests(tests.filter(isRealTime), watcher, options);
  }
}
