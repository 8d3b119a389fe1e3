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

  it('heads each column and labels each cell by what tells the runs apart', () => {
    const { runs, ...matrix } = matrixWith(['Books a table'], ['A', 'B']);
    const shown = (own: (index: number) => object) => {
      const columns = runs.map((run, index) => ({ ...run, name: 'Nightly', agentName: 'Bella', ...own(index) }));
      const page = matrixSection({ ...matrix, runs: columns }).toString();
      const heads = [...page.matchAll(/<b><bdi>(.*?)<\/bdi><\/b>/g)].map(([, head]) => head);
      const labels = new Set([...page.matchAll(/data-label="(.*?)"/g)].map(([, label]) => label));
      expect([...labels]).toEqual(heads);
      return heads;
    };
    expect(shown((index) => ({ protocol: ['vapi', 'retell-text'][index] }))).toEqual(['vapi', 'retell-text']);
    const versions = (index: number) => ({ protocol: 'vapi', agentVersion: ['v1', 'v2'][index] });
    expect(shown(versions)).toEqual(['v1', 'v2']);
    expect(shown(() => ({ protocol: 'vapi', agentVersion: null }))).toEqual(['vapi #1', 'vapi #2']);
  });

  it('shows a case of which no call passed in red, and that calls are too few only where it differs', () => {
    const matrix = matrixWith(['Books a table'], ['A', 'B', 'C']);
    const [first, ...others] = matrix.cases[0]!.results;
    const undecided = others.map((one, index) => ({
      ...{ ...one, difference: { change: 'undecided' as const } },
      ...(index === 0 && { passed: 0, passRate: 0 }),
    }));
    const section = matrixSection({ ...matrix, cases: [{ name: 'Cancels', results: [first!, ...undecided] }] });
    expect(section.toString().match(/class="no-pass"/g)).toHaveLength(1);
    expect(words(section)).toMatch(
      /Cancels 60 % 12 of 20 400 ms 0 % 0 of 20 400 ms too few calls 60 % 12 of 20 400 ms All/,
    );
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
