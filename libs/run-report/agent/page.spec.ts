import { agentWith } from '../testing/agent.js';
import { renderAgentPage } from './page.js';

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
              learning: null,
              findable: [
                { passRate: 0.9, looks: null },
                { passRate: 0.8, looks: 9 },
              ],
            },
            { name: 'Hour', learning: { looks: 3, calls: 1 }, findable: [] },
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
    expect(words).toContain('Night : a fall to 80 % within 9 looks, in 9 of 10 cases');
    expect(words).toContain('Hour : learning: 3 more runs and 1 more counted call are needed');
    expect(words).toMatch(/A Alarm: .*more calls are slow since .* in Books .*A Alarm: .*fewer calls pass/);
  });

  it('does not say of a case that has been red since its first run that it was red for the whole period', () => {
    const page = [
      ...renderAgentPage(agentWith([{ name: 'New since yesterday', nights: [[0, 1]] }], { days: 90 })),
    ].join('');
    expect(page).toMatch(/Red in each run of the 90 days, the first <a href="[^"]*">.*2026/);
    expect(page).not.toContain('for all 90 days');
  });
});
