import type { Change } from '../../statistics/index.js';
import type { ReportedMatrix } from '../index.js';
import { comparisonWith } from './comparison.js';

/** A run with each name beside a first one; each case became worse in the second run and better in the third. */
export function matrixWith(cases: readonly string[], runs: readonly string[]): ReportedMatrix {
  const { current, cases: compared } = comparisonWith(['case'], 'Nightly');
  const { latency } = current;
  const changes: (Change | null)[] = [null, 'worse', 'better'];
  const difference = (index: number) => {
    const change = index < changes.length ? changes[index]! : 'same';
    return change === null ? null : { change };
  };
  const columns = runs.map((name, index) => ({
    ...current,
    ...{ id: `run-${index}`, name, agentName: name, agentVersion: name, protocol: name },
    latency: { ...latency, clock: name },
    difference: difference(index),
  }));
  return {
    runs: columns,
    cases: cases.map((name) => ({
      name,
      results: columns.map(({ id }, index) => ({
        ...compared[0]!.current,
        runId: id,
        difference: difference(index),
      })),
    })),
    warnings: runs,
  };
}
