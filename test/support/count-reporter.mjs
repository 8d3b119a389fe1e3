/** Ends the output with one plain line that counts the tests, for people and for CI. */
export default class CountReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    // A file that does not even load counts as a failure: none of its tests ran.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    process.stderr.write(`\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }
}
