import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { planOf } from '../testing/virtual-calls.js';
import { AgentReports } from './agent-reports.js';

describe('the reports of a voice call', () => {
  it('keep the times of all words of a report, or of none', () => {
    const reports = new AgentReports(planOf([]));
    const words = Array.from({ length: 5_001 }, (_, n) => ({ text: 'a', startMs: n, endMs: n + 1 }));
    reports.say(0, 'a '.repeat(5_001), { words });
    reports.say(0, 'a '.repeat(5_000), { words: words.slice(1) });
    expect(reports.facts.said.map((said) => said.words?.length)).toEqual([undefined, 5_000]);
  });

  it('count the arguments of tools by their size after parsing', () => {
    const reports = new AgentReports(planOf([]));
    const json = `{"many":[${'{},'.repeat(21_000)}{}]}`;
    for (let n = 0; n < 3; n++) reports.callTool(0, { id: `t${n}`, name: 'search', json }, false);
    expect(reports.bytes).toBeGreaterThan(SEND_LIMITS.memoryBytes);
  });

  it('count words with times as objects, of which the main thread accepts at most 65,000', () => {
    const reports = new AgentReports(planOf([]));
    const words = Array.from({ length: 5_000 }, (_, n) => ({ text: 'a', startMs: n, endMs: n + 1 }));
    for (let n = 0; n < 13; n++) reports.say(n, '', { words });
    expect(reports.bytes).toBeGreaterThan(SEND_LIMITS.memoryBytes * 0.99);
  });

  it('have room for the arguments of a thousand typical tool calls', () => {
    const reports = new AgentReports(planOf([]));
    const json = '{"day":"Friday","guests":[{"name":"Ada","diets":["none"]},{"name":"Bob","diets":[]}]}';
    for (let n = 0; n < 1_000; n++) reports.callTool(0, { id: `t${n}`, name: 'reserve', json }, false);
    expect(reports.bytes).toBeLessThan(SEND_LIMITS.memoryBytes / 4);
  });
});
