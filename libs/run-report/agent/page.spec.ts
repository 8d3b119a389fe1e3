import { agentWith } from '../testing/agent.js';
import { renderAgentPage } from './page.js';

describe('the page of an agent', () => {
  it('does not say of a case that has been red since its first run that it was red for the whole period', () => {
    const page = [
      ...renderAgentPage(agentWith([{ name: 'New since yesterday', nights: [[0, 1]] }], { days: 90 })),
    ].join('');
    expect(page).toMatch(/Red in each run of the 90 days, the first <a href="[^"]*">.*2026/);
    expect(page).not.toContain('for all 90 days');
  });
});
