import { writeSync } from 'node:fs';

/** Prints one plain line with the test counts at the end of the output, for people and CI. */
export default class CountReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    // A file that fails to load counts as one failure, because none of its tests ran.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    // On exit, because Jest prints its own summary after all reporters have finished.
    process.once('exit', () => writeSync(1, `\n${numPassedTests} passed, ${failed} failed${skipped}\n`));
  }
}
