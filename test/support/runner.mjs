import TestRunner from 'jest-runner';

const isRealTime = ({ context }) => context.config.displayName?.name === 'realtime';

/** Runs the tests that measure real time last and one after the other, so that no other test delays them. */
export default class OrderedRunner extends TestRunner {
  async runTests(tests, watcher, options) {
    await super.runTests(
      tests.filter((test) => !isRealTime(test)),
      watcher,
      options,
    );
    this._globalConfig = { ...this._globalConfig, maxWorkers: 1 };
    await super.runTests(tests.filter(isRealTime), watcher, options);
  }
}
