import { findingsOf, findingsSection } from './findings.js';
import type { ReportedCall } from './reported.js';

describe('the findings of a report', () => {
  it('name the parts of a check with a criterion, with the answers of the judge', () => {
    const samples = [true, false, false].map((met) => ({ met, reasoning: 'It "<says>" so', evidence: null }));
    const judged = { verdict: 'not_met', reason: 'No', evidence: null, samples, disagreement: true } as const;
    const parts = [
      { name: 'Agent says "yes"', met: false, detail: 'Never said', evidence: [] },
      { name: 'Polite', met: null, detail: 'No <b>verdict</b>', evidence: [], judged },
    ];
    const check = { index: 0, type: 'any_of', name: 'Either', weight: 1, required: true, met: null } as const;
    const call = { timeline: [], checks: [{ ...check, detail: 'Open', evidence: [], parts }], criteria: [] };
    const html = String(findingsSection(call as unknown as ReportedCall, 'c1', findingsOf(call)));
    expect(html).toContain('Never said');
    expect(html).toContain('No &#60;b&#62;verdict');
    expect(html).toContain('The judge contradicted itself in 3 answers');
    expect(html.match(/Not decided/g)).toHaveLength(2);
  });
});
