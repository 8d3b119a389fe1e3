import { agentSound, factsOf, line } from '../testing/facts.js';
import { voiceMeasures } from './index.js';

describe('the measures of a call with many sounds', () => {
  /** How often the start of a sound of the agent is looked at. */
  function looksOf(count: number): number {
    let looks = 0;
    const agent = Array.from({ length: count }, (_, n) => ({
      ...agentSound(n * 400, n * 400 + 100),
      get startMs() {
        looks++;
        return n * 400;
      },
    }));
    const atMs = count * 400;
    const end = { by: 'caller', code: 'script_over', reason: '', atMs } as const;
    // Half of the sounds are in lines of the caller.
    const caller = Array.from({ length: 5 }, (_, n) => line((n * atMs) / 5, ((n + 0.5) * atMs) / 5));
    expect(voiceMeasures(factsOf({ agent, caller, end })).latencies).toHaveLength(5);
    return looks;
  }

  it('take time that grows linearly with the number of sounds', () => {
    expect(looksOf(2_000) / looksOf(500)).toBeLessThan(6);
  });
});
