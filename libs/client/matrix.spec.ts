import { matrixExitCode, matrixMarkdown, matrixText } from './matrix.js';
import type { RunMatrix } from './service.js';
import { matrixOf } from './testing/factories.js';

const look = { paint: (_: string, text: string) => text, width: 140 };
type Difference = RunMatrix['runs'][number]['difference'];
const difference = (change: 'same' | 'better' | 'worse' | 'undecided'): Difference => ({
  change,
  pValue: change === 'undecided' ? null : 0.01,
  callsNeeded: change === 'undecided' ? 6 : null,
});

describe('matrixText', () => {
  it('describes each run, and shows the results of a case in a column of each run', () => {
    const matrix = matrixOf(['Books a table', 'Cancels'], [null, difference('worse'), difference('same')]);
    expect(matrixText(matrix, look).split('\n')).toEqual([
      'A  "Nightly" (run-0) of "Agent 0", agent v1, chat-completions, 60 % passed',
      'B  "Nightly" (run-1) of "Agent 1", agent v1, chat-completions, 60 % passed',
      'C  "Nightly" (run-2) of "Agent 2", agent v1, chat-completions, 60 % passed',
      '',
      'Case           A Agent 0    B Agent 1  C Agent 2',
      'Books a table      12/20  12/20 worse      12/20',
      'Cancels            12/20  12/20 worse      12/20',
      'All together       12/20  12/20 worse      12/20',
      'Score                 80           80         80',
      'Latency p50       400 ms       400 ms     400 ms',
      'Latency p95       800 ms       800 ms     800 ms',
      '',
      'Differences to A larger than chance: B is worse in 2 cases, worse in all together.',
      '  A warning',
    ]);
  });

  it('heads the columns by platform or version of the agent, and by letters alone on a narrow terminal', () => {
    const { runs, ...matrix } = matrixOf(['Books a table'], [null, difference('same')]);
    const headOf = (own: object, width = 140) => {
      const text = matrixText({ ...matrix, runs: [runs[0]!, { ...runs[1]!, ...own }] }, { ...look, width });
      return text.split('\n').find((line) => line.startsWith('Case'));
    };
    expect(headOf({ protocol: 'vapi' })).toMatch(/ A chat-completions +B vapi$/);
    expect(headOf({ agentVersion: 'v2', agentName: 'Agent 0' })).toMatch(/ A v1 +B v2$/);
    expect(headOf({ protocol: 'vapi' }, 60)).toMatch(/^Case +A +B$/);
  });

  it('colours a case of which no call passed red, and says that calls are too few only where it differs', () => {
    const matrix = matrixOf(['Books a table'], [null, difference('undecided'), difference('undecided')]);
    const [first, second, third] = matrix.cases[0]!.results;
    const results = [first!, { ...second!, passed: 0, passRate: 0 }, third!];
    const colours = { paint: (style: string, text: string) => `<${style}>${text}`, width: 140 };
    const text = matrixText({ ...matrix, cases: [{ ...matrix.cases[0]!, results }] }, colours);
    expect(text).toMatch(/^Books a table +<dim>12\/20 +<red>0\/20 too few calls +<dim>12\/20$/m);
  });

  it('prints the clocks only where they differ', () => {
    const matrix = matrixOf(['Books a table'], [null, difference('same')]);
    expect(matrixText(matrix, look)).not.toMatch(/Clock|latencies:/);
    const [first, second] = matrix.runs;
    const heard = { ...second!, latency: { ...second!.latency, clock: 'heard' as const } };
    const text = matrixText({ ...matrix, runs: [first!, heard] }, look);
    expect(text).toMatch(/^Clock +text +heard$/m);
    expect(text).toMatch(/^B .*, latencies: heard$/m);
  });

  it('says that nothing differs, and shows a dash where a run does not have the case', () => {
    const matrix = matrixOf(['Books a table'], [null, difference('same')]);
    const cases = matrix.cases.map((one) => ({ ...one, results: one.results.slice(0, 1) }));
    const text = matrixText({ ...matrix, cases }, look);
    expect(text).toMatch(/^Books a table +12\/20 +–$/m);
    expect(text).toContain('Differences to A larger than chance: None.');
  });

  it('shows only the cases with a difference if there are more than 100', () => {
    const names = Array.from({ length: 150 }, (_, index) => `case ${index}`);
    const matrix = matrixOf(names, [null, difference('better')]);
    const cases = matrix.cases.map((one, index) =>
      index === 7 ? one : { ...one, results: one.results.map((result) => ({ ...result, difference: null })) },
    );
    const text = matrixText({ ...matrix, cases }, look);
    expect(text.match(/^case \d+/gm)).toEqual(['case 7']);
    expect(text).toContain('Not shown: 149 cases without a difference.');
  });
});

describe('matrixMarkdown', () => {
  it('is a table with a column for each run, in which names are not markup', () => {
    const markdown = matrixMarkdown(matrixOf(['Books | <b>'], [null, difference('worse')]));
    expect(markdown).toContain('### 2 runs side by side');
    expect(markdown).toMatch(
      /^\| Case \| A Agent 0 \| B Agent 1 \|\n\| --- \| --: \| --: \|\n\| Books &#124; &#60;b&#62; \| 12\/20 \| /m,
    );
    expect(markdown).toContain('**Differences to A larger than chance: B is worse in 1 case, worse in all together.**');
  });
});

describe('matrixExitCode', () => {
  const exitCode = (change: Parameters<typeof difference>[0], strict?: boolean) =>
    matrixExitCode(matrixOf(['Books a table'], [null, difference(change)]), strict);

  it('is 1 if the first run is worse than another one, as in the comparison of two runs', () => {
    expect([exitCode('better'), exitCode('worse'), exitCode('same')]).toEqual([1, 0, 0]);
  });

  it('is 2 with --strict if every case had too few calls', () => {
    expect([exitCode('undecided'), exitCode('undecided', true), exitCode('same', true)]).toEqual([0, 2, 0]);
  });
});
