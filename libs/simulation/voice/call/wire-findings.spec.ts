import type { WireFinding } from '../facts/facts.js';
import { WireFindings } from './wire-findings.js';

const finding = (code: string, atMs: number | null): WireFinding => ({
  code,
  severity: 'error',
  atMs,
  detail: `detail of ${code}`,
  source: 'a sentence',
});

describe('WireFindings', () => {
  it('keeps the first finding of each code with its count', () => {
    const findings = new WireFindings();
    for (let n = 0; n < 3_000; n++) findings.add(finding('wrong_stream_sid', 20 * n));
    findings.add(finding('binary_frame', 10));
    expect(findings.list()).toEqual([
      { ...finding('wrong_stream_sid', 0), detail: 'detail of wrong_stream_sid (3000 times)' },
      finding('binary_frame', 10),
    ]);
  });

  it('lists findings before the answer first', () => {
    const findings = new WireFindings();
    findings.add(finding('late', 500));
    findings.add(finding('early', null));
    findings.add(finding('first', 0));
    expect(findings.list().map(({ code }) => code)).toEqual(['early', 'first', 'late']);
  });
});
