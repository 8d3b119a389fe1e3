import { comparisonSection } from './comparison.js';
import type { ReportedCase } from './reported.js';
import { comparisonWith } from './testing/comparison.js';
import { words } from './testing/words.js';

describe('comparisonSection', () => {
  it('is empty without an earlier run', () => {
    expect(comparisonSection(null).toString()).toBe('');
  });

  it('shows the earlier run, its agent version, and scores and latencies of both runs', () => {
    const text = words(comparisonSection(comparisonWith(['Books a table'], 'Nightly')));
    expect(text).toContain('Compared with Nightly');
    expect(text).toContain('Agent version then Nightly');
    expect(text).toContain('Score 97.5 → 80');
    expect(text).toContain('Latency p50 400 ms');
    expect(text).toContain('Shared cases together ✗ Worse 95 % → 60 %');
  });

  it('shows both agents and both clocks on the page only where they differ', () => {
    const comparison = comparisonWith(['Books a table'], 'Nightly');
    expect(words(comparisonSection(comparison))).not.toMatch(/Other agent|This agent|Clock/);
    const { current } = comparison;
    const other = { agentId: 'text', agentName: 'Chat <b>', latency: { ...current.latency, clock: 'text' } };
    const text = words(comparisonSection({ ...comparison, baseline: { ...comparison.baseline, ...other } }));
    expect(text).toMatch(/Other agent Chat <b> This agent Nightly/);
    expect(text).toContain('Clock of the latencies text → heard');
  });

  it('shows both pass rates of a case with their intervals', () => {
    const text = words(comparisonSection(comparisonWith(['Books a table'], 'Nightly')));
    expect(text).toMatch(/Books a table .*✗ Worse .*95 % 19 of 20 .*76 % to 99 % .*60 % 12 of 20 .*39 % to 78 %/);
  });

  it('says of a case with too few calls what changed, and how many calls would exclude chance', () => {
    const comparison = comparisonWith(['Books a table'], 'Nightly');
    const [one] = comparison.cases;
    const [baseline, current] = [
      { ...one!.baseline, passed: 0, counted: 1 },
      { ...one!.current, passed: 1, counted: 1 },
    ];
    const fixed = { ...one!, change: 'undecided' as const, callsNeeded: 5, baseline, current };
    const text = words(comparisonSection({ ...comparison, change: 'undecided', cases: [fixed] }));
    expect(text).toContain('Too few calls 0/1 → 1/1, now passes (one call each: 5 would exclude chance)');
    expect(words(comparisonSection({ ...comparison, cases: [{ ...fixed, current: baseline }] }))).not.toContain(
      '→ 0/1',
    );
  });

  it('lists the cases that changed first, and at most 100', () => {
    const comparison = comparisonWith(['a'], 'Nightly');
    const [worse] = comparison.cases;
    const same = Array.from({ length: 150 }, (_, n): ReportedCase => ({
      ...worse!,
      name: `same ${n}`,
      change: 'same',
    }));
    const better = { ...worse!, name: 'improved', change: 'better' as const };
    const text = words(comparisonSection({ ...comparison, cases: [...same, better, worse!] }));
    expect(text).toMatch(/✗ Worse .*improved .*✓ Better .*same 0 /);
    expect(text).toContain('same 97 ');
    expect(text).not.toContain('same 98 ');
    expect(text).toContain('52 more cases.');
  });
});
