/** Time of an element in whole milliseconds; NaN without one, as readers of JUnit have it. */
const timeOf = (tag: string): number => Math.round(Number(/ time="([^"]*)"/.exec(tag)?.[1]) * 1_000);

/** The time of each suite of a JUnit report, and the sum of those of its cases, in milliseconds. */
export const suiteTimes = (document: string): { own: number; ofCases: number }[] =>
  document
    .split(/(?=<testsuite )/)
    .slice(1)
    .map((suite) => ({
      own: timeOf(suite.slice(0, suite.indexOf('>'))),
      ofCases: (suite.match(/<testcase [^>]*>/g) ?? []).reduce((sum, tag) => sum + timeOf(tag), 0),
    }));
