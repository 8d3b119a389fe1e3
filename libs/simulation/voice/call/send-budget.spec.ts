import { SendBudget } from './send-budget.js';

const TELEPHONE = 8_000;
const MIB = 1024 * 1024;

describe('SendBudget', () => {
  it('allows 10,000 at once and 200 a second after that', () => {
    const budget = new SendBudget();
    budget.take(0, 'mark', 10_000);
    expect(budget.exceeded).toBeUndefined();
    budget.take(1_000, 'mark', 200);
    expect(budget.exceeded).toBeUndefined();
    budget.take(1_000, 'mark');
    expect(budget.exceeded).toBe('10,201 marks, which is too many at once');
  });

  it('allows 200 a second at any length of the call and never saves up more than 10,000', () => {
    const budget = new SendBudget();
    for (let second = 0; second < 3_600; second++) budget.take(second * 1_000, 'shortAudio', 200);
    expect(budget.exceeded).toBeUndefined();
    budget.take(100_000_000, 'other', 10_000);
    expect(budget.exceeded).toBeUndefined();
    budget.take(100_000_000, 'other', 1);
    expect(budget.exceeded).toBeDefined();
  });

  it('names the counts by kind, the largest first', () => {
    const budget = new SendBudget();
    budget.take(0, 'clear');
    budget.take(0, 'continuation', 3);
    budget.take(0, 'control', 10_000);
    const counts = '10,000 control frames, 3 continuation frames, 1 clear';
    expect(budget.exceeded).toBe(`${counts}, which is too many at once`);
  });

  it('does not refill while the clock stands still or runs backwards', () => {
    const budget = new SendBudget();
    budget.take(5_000, 'mark', 10_000);
    budget.take(0, 'mark', 0);
    budget.take(5_000, 'mark', 1);
    expect(budget.exceeded).toBeDefined();
  });

  it('allows 1 MiB plus twice the audio of the call so far and ten more minutes', () => {
    const allowed = (seconds: number) => 2 * TELEPHONE * (seconds + 600) + MIB;
    for (const seconds of [0, 60, 3_600]) {
      const budget = new SendBudget();
      budget.receive(allowed(seconds), TELEPHONE, seconds * 1_000);
      expect(budget.exceeded).toBeUndefined();
      budget.receive(1, TELEPHONE, seconds * 1_000);
      expect(budget.exceeded).toContain('bytes, where');
    }
  });
});
