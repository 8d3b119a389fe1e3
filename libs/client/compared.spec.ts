import { comparisonExitCode, comparisonMarkdown, comparisonText } from './compared.js';
import { comparisonOf } from './testing/factories.js';

const look = { paint: (_: string, text: string) => text, width: 120 };
const [worse] = comparisonOf('Books a table').cases;
const same = { ...worse!, change: 'same' as const };
const undecided = { ...worse!, change: 'undecided' as const, pValue: null, callsNeeded: 3 };

describe('comparisonText', () => {
  it('shows both runs, and each case with both results', () => {
    expect(comparisonText(comparisonOf('Nightly'), look)).toBe(
      [
        'Earlier: "Nightly" (earlier), agent Nightly, score 97.5, 95 % passed',
        'Now:     "Nightly" (run), agent Nightly, score 80, 60 % passed',
        '',
        'Change  Case     Earlier    Now      Score     p50     p95',
        'worse   Nightly    19/20  12/20  97.5 → 80  400 ms  800 ms',
        '',
        '1 case worse, 0 better, 0 without a difference larger than chance; together: worse.',
        '  Nightly',
      ].join('\n'),
    );
  });

  it('prints both agents and both clocks only where they differ', () => {
    const { current, baseline } = comparisonOf('Nightly');
    const latency = { ...baseline.latency, clock: 'text' as const };
    const other = { ...baseline, agentId: 'text', agentName: 'Chat', latency };
    const text = comparisonText(comparisonOf('Nightly', { baseline: other }), look);
    expect(text).toContain(
      'Earlier: "Nightly" (earlier) of "Chat", agent Nightly, score 97.5, 95 % passed, latencies: text',
    );
    expect(text).toContain(
      'Now:     "Nightly" (run) of "Nightly", agent Nightly, score 80, 60 % passed, latencies: heard',
    );
    const unnamed = comparisonText(comparisonOf('Nightly', { current, baseline: { ...other, agentName: null } }), look);
    expect(unnamed).toContain('(earlier) of text,');
  });

  it('says how many cases had too few calls', () => {
    const text = comparisonText(comparisonOf('Nightly', { change: 'undecided', cases: [undecided, same] }), look);
    expect(text).toContain('0 better, 1 without a difference larger than chance, 1 with too few calls to decide; ');
    expect(text).toContain('together: too few calls to decide.');
  });

  it('says what changed although chance is not excluded, and how many calls would exclude it', () => {
    const [before, now] = [
      { ...worse!.baseline, passed: 0, counted: 1 },
      { ...worse!.current, passed: 1, counted: 1 },
    ];
    const fixed = { ...undecided, callsNeeded: 5, baseline: before, current: now };
    const comparison = comparisonOf('Nightly', { change: 'undecided', cases: [fixed, same] });
    const line = '"Books a table": 0/1 → 1/1, now passes (one call each: 5 would exclude chance)';
    expect(comparisonText(comparison, look).split('\n')).toContain(line);
    expect(comparisonMarkdown(comparison)).toContain(
      '- &#34;Books a table&#34;: 0/1 → 1/1, now passes &#40;one call each',
    );
    const many = comparisonText({ ...comparison, cases: Array<typeof fixed>(25).fill(fixed) }, look);
    expect(many).toContain('\n5 more cases changed, too.\n');
  });

  it('shows only the cases that changed if there are more than 100', () => {
    const cases = [...Array<typeof same>(150).fill(same), worse!];
    const text = comparisonText(comparisonOf('Nightly', { cases }), look);
    expect(text.match(/^(worse|same) /gm)).toEqual(['worse ']);
    expect(text).toContain('Not shown: 150 cases');
  });
});

describe('comparisonExitCode', () => {
  it('is 2 with --strict if every case had too few calls, and none became worse', () => {
    const none = comparisonOf('x', { change: 'undecided', cases: [undecided, undecided] });
    expect([comparisonExitCode(none), comparisonExitCode(none, true)]).toEqual([0, 2]);
    expect(comparisonExitCode({ ...none, cases: [undecided, same] }, true)).toBe(0);
    expect(comparisonExitCode({ ...none, change: 'worse' }, true)).toBe(1);
  });

  it('is 1 if a case or all of them together became worse, else 0', () => {
    const none = comparisonOf('x', { change: 'same', cases: [same] });
    expect(comparisonExitCode(none)).toBe(0);
    expect(comparisonExitCode({ ...none, change: 'better' })).toBe(0);
    expect(comparisonExitCode({ ...none, change: 'worse' })).toBe(1);
    expect(comparisonExitCode({ ...none, change: 'better', cases: [same, worse!] })).toBe(1);
  });
});
