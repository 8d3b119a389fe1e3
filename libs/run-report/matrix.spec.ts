import { matrixSection } from './matrix.js';
import { matrixWith } from './testing/matrix.js';
import { words } from './testing/words.js';

describe('matrixSection', () => {
  const eight = Array.from({ length: 8 }, (_, index) => `Platform ${index + 1}`);

  it('is empty without other runs', () => {
    expect(matrixSection(null).toString()).toBe('');
  });

  it('has a column for each run and a row for each case, and marks differences to the first run', () => {
    const section = matrixSection(matrixWith(['Books a table', 'Cancels'], eight));
    const text = words(section);
    expect(text).toContain('8 runs side by side');
    expect(text).toMatch(/Case Platform 1 .*Platform 8/);
    const cell = '60 % 12 of 20 400 ms';
    expect(text).toContain(`Books a table ${cell} ${cell} ✗ Worse ${cell} ✓ Better ${cell} ${cell}`);
    expect(section.toString().match(/<td /g)).toHaveLength(8 * (2 + 5));
    expect(text).toContain('All cases together 60 % 12 of 20');
    expect(text).toMatch(/Score 80 80 .*Latency p50 400 ms .*Latency p95 800 ms/);
  });

  it('shows the clocks on the page only where they differ', () => {
    const matrix = matrixWith(['Books a table'], ['text', 'heard']);
    expect(words(matrixSection(matrix))).toContain('Clock of the latencies text heard');
    const runs = matrix.runs.map((run) => ({ ...run, latency: { ...run.latency, clock: 'heard' } }));
    expect(words(matrixSection({ ...matrix, runs }))).not.toContain('Clock');
  });

  it('says which run does not have a case, and which has no counted call of it', () => {
    const matrix = matrixWith(['Books a table'], ['A', 'B', 'C']);
    const [first, second] = matrix.cases[0]!.results;
    const uncounted = { ...second!, counted: 0, passed: 0, passRate: null, passRateInterval: null, difference: null };
    const text = words(matrixSection({ ...matrix, cases: [{ name: 'Cancels', results: [first!, uncounted] }] }));
    expect(text).toContain('Cancels 60 % 12 of 20 400 ms not counted not in this run');
  });

  it('lists the cases with a difference first, and at most 100', () => {
    const matrix = matrixWith(
      Array.from({ length: 150 }, (_, index) => `case ${index}`),
      ['A', 'B'],
    );
    const cases = matrix.cases.map((one, index) => ({
      ...one,
      results: one.results.map((result) => ({ ...result, difference: index === 149 ? result.difference : null })),
    }));
    const text = words(matrixSection({ ...matrix, cases }));
    expect(text).toMatch(/case 149 .*✗ Worse .*case 0 .*case 98 /);
    expect(text).not.toContain('case 99 ');
    expect(text).toContain('50 more cases.');
  });
});
