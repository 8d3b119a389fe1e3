import { writeSync } from 'node:fs';

/** Ends the output with one plain line that counts the tests, for people and for CI. */
export default class CountReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    // A file that does not even load counts as a failure: none of its tests ran.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    // At the very end, because Jest prints its own summary after every reporter has finished.
    process.once('exit', () => writeSync(1, `\n${numPassedTests} passed, ${failed} failed${skipped}\n`));
  }
}
