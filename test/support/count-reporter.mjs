import { writeFileSync, writeSync } from 'node:fs';

/**
 * Prints one plain line with the test counts at the end of the output, for people and CI. With `FAILED_TEST_FILES`, writes the
 * paths of the test files that failed into that file, a line each.
 */
export default class CountReporter {
  onRunComplete(
    _contexts,
    { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites, testResults },
  ) {
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    // A file that fails to load counts as one failure, because none of its tests ran.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    // On exit, because Jest prints its own summary after all reporters have finished.
    process.once('exit', () => writeSync(1, `\n${numPassedTests} passed, ${failed} failed${skipped}\n`));

    const failedFiles = process.env.FAILED_TEST_FILES;
    if (!failedFiles) return;
    const paths = testResults
      .filter((file) => file.numFailingTests > 0 || file.testExecError)
      .map((file) => file.testFilePath);
    writeFileSync(failedFiles, paths.map((path) => `${path}\n`).join(''));
  }
}
