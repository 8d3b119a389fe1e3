import type { ReportedAgent } from '../index.js';
import { agentWith, endOf, productionWith, streamWith } from '../testing/agent.js';
import { renderAgentPage } from './page.js';

const wordsOf = (agent: ReportedAgent): string =>
  [...renderAgentPage(agent)]
    .join('')
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
const [GREEN, RED] = [
  [1, 1],
  [0, 1],
] as const;
const books = (...nights: (readonly [number, number])[]) => [{ name: 'Books', nights }];
const OTHER = { scheduleId: null, name: null };

describe('the page of an agent', () => {
  it('has its open alarms, where each alarm began, and what a fall of which size would be noticed when', () => {
    const nights: [number, number][] = Array.from({ length: 5 }, (_, night) => [night < 3 ? 1 : 0, 1]);
    const alarm = { scheduleName: '<b>Night</b>', measure: 'passed' as const, caseName: null };
    const page = [
      ...renderAgentPage(
        agentWith([{ name: 'Books', nights }], {
          alarms: [
            { ...alarm, since: '2026-10-04T02:00:00.000Z', isOpen: true },
            { ...alarm, measure: 'slow', caseName: 'Books', since: '2026-10-02T02:00:00.000Z', isOpen: false },
          ],
          schedules: [
            {
              name: 'Night',
              unit: 'run',
              learning: null,
              findable: [
                { passRate: 0.9, looks: null },
                { passRate: 0.8, looks: 9 },
              ],
            },
            { name: 'Hour', unit: 'run', learning: { looks: 3, calls: 1 }, findable: [] },
            { name: 'Production', unit: 'day', learning: { looks: 1, calls: 0 }, findable: [] },
          ],
        }),
      ),
    ].join('');
    expect(page).not.toContain('<b>Night');
    const words = page
      .replace(/<style>.*?<\/style>/s, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
    expect(words).toMatch(
      /Open alarms &#60;b&#62;Night&#60;\/b&#62; : fewer calls pass since 2026-10-04 02:00 UTC Alarms find/,
    );
    expect(words).toContain('Night : a fall to 80 % within 9 runs, in 9 of 10 cases');
    expect(words).toContain('Hour : learning: 3 more runs and 1 more counted call are needed');
    expect(words).toContain('Production : learning: 1 more day and');
    expect(words).toMatch(/A .*alarm of .*more calls are slow since .* in Books .*A .*alarm of .*fewer calls pass/);
  });

  it('does not say of a case that has been red since its first run that it was red for the whole period', () => {
    const page = [
      ...renderAgentPage(agentWith([{ name: 'New since yesterday', nights: [[0, 1]] }], { days: 90 })),
    ].join('');
    expect(page).toMatch(/Red in each run of the 90 days, the first <a href="[^"]*">.*2026/);
    expect(page).not.toContain('for all 90 days');
  });

  it.each([
    ['No ended run', 'No run ended in these 90 days.', agentWith([])],
    ['Green', 'No case is red in the newest run of Nightly , the run of 2026-10-02', agentWith(books(RED, GREEN))],
    [
      'Not green',
      '1 case not green, since the run of 2026-10-02 02:00 UTC .',
      agentWith(books(GREEN, RED, RED, RED, RED)),
    ],
    [
      'Gate not met',
      'No case is red, but the gate of Nightly is not met since the run of 2026-10-03',
      agentWith(books(GREEN), { streams: [streamOf('met', 'not_tested', 'not_met', null, 'not_met')] }),
    ],
    [
      'Gate not met',
      'No case is red, but the gate of Nightly is not met since the run of 2026-10-02',
      agentWith(books(GREEN, GREEN, GREEN), { streams: [streamOf('met', 'not_met', 'not_met')] }),
    ],
    [
      'Not fully tested',
      'Not all calls of Nightly could be judged since the run of 2026-10-02',
      agentWith(books(GREEN, GREEN), { streams: [streamOf('not_met', 'not_tested')] }),
    ],
    [
      'Not tested lately',
      'No case is red in the newest run of Nightly , the run of 2026-10-02 02:00 UTC (deleted).',
      agentWith(books(GREEN, GREEN), { streams: [streamOf('met', null)], reportOf: () => undefined }),
    ],
    [
      'Open alarm',
      'Nightly : more calls are slow since 2026-10-02',
      agentWith(books(GREEN, GREEN), {
        alarms: [{ scheduleName: 'Nightly', measure: 'slow', caseName: null, since: endOf(1), isOpen: true }],
      }),
    ],
    [
      'Open alarm',
      'Production : fewer calls pass since 2026-10-02',
      agentWith([], {
        alarms: [{ scheduleName: 'Production', measure: 'passed', caseName: null, since: endOf(1), isOpen: true }],
      }),
    ],
  ])('is "%s" because: %s', (label, why, agent) => {
    const words = wordsOf(agent);
    expect(words).toContain(` ${label} ${why}`);
    expect(words).toContain(`${label}: Bella Vista`);
  });

  it('decides by the newest runs of schedules, and shows a case that failed in another run without deciding', () => {
    const streams = [streamWith(books(RED, GREEN)), streamWith(books(RED, RED), OTHER)];
    const words = wordsOf(agentWith(books(RED, GREEN), { streams }));
    expect(words).toContain(
      'Green No case is red in the newest run of Nightly , the run of 2026-10-02 02:00 UTC . The newest run of the schedule decides: Nightly . Other runs do not.',
    );
    expect(words).toMatch(
      /Other runs : Cases in the newest 2 runs Runs that no enabled schedule started: they do not decide/,
    );
    expect(words).not.toContain('not green');
  });

  it('names the schedule of a red case if there are several, and what changed in the run since which it is red', () => {
    const smoke = streamWith(books(GREEN, GREEN), { scheduleId: 'smoke', name: 'Smoke' });
    const agent = agentWith(
      books(GREEN, RED, RED),
      { streams: [streamWith(books(GREEN, RED, RED)), smoke] },
      (night) => (night > 0 ? { agentVersion: 'v2' } : {}),
    );
    expect(wordsOf(agent)).toContain(
      '1 case not green Books Nightly Red since the run of 2026-10-02 02:00 UTC ; newest failed call, 2026-10-03 02:00 UTC In that run, the agent version changed from v1 to v2 .',
    );
  });

  it('has the production calls, those evaluations first of which most calls failed, and hides no word in an element', () => {
    const page = [...renderAgentPage(agentWith([], { production: productionWith('<i>&', 3) }))].join('');
    const words = wordsOf(agentWith([], { production: productionWith('<i>&', 3) }));
    expect(page).not.toContain('<i>');
    expect(words).toMatch(
      /Production Judgements 1,002 \(98 % passed\) Failed 22 Days 7, 2026-11-23 to 2026-11-29 \(UTC\)/,
    );
    expect(words).toMatch(
      /Over limit Cancels 20 20 0 % .* 0 0 0 Books 982 2 100 % 980 of 982 .* 4 30 1 Opens 0 0 not counted/,
    );
    expect(words).toMatch(/The newest 3 failed calls .* call id-0 .*&#60;i&#62;&#38; .*call id-2/);
    expect(words).toContain('call id-0 ( ext-0 on its platform): report.html#e1-r1 of run day');
    expect(words).toContain('vat report RUN --out report.html');
    expect(page).not.toContain('<a href="runs/day');
    expect(page).toContain('<a href="#production">22 of 1,002 judgements failed</a>');
  });

  it('says who may read the failed production calls to others, and has no part about them without a day', () => {
    const words = wordsOf(agentWith([], { production: { ...productionWith('Bad', 3), failed: null } }));
    expect(words).toContain('are shown to EDITOR and ADMIN keys');
    expect(words).not.toContain('Bad');
    expect(wordsOf(agentWith([]))).not.toContain('Production');
  });

  it('decides by the newest result of each case without a schedule', () => {
    const words = wordsOf(agentWith(books(RED), { streams: [streamWith(books(RED), OTHER)] }));
    expect(words).toContain('Not green 1 case not green, since');
    expect(words).toContain('The newest result of each case decides');
  });
});

/** Green nights with these gates. */
function streamOf(...gates: ReportedAgent['streams'][number]['runs'][number]['gate'][]) {
  const stream = streamWith(books(...gates.map(() => GREEN)));
  return { ...stream, runs: stream.runs.map((run, at) => ({ ...run, gate: gates[at]! })) };
}
