import { sample } from '../../../../libs/statistics/testing/sample.js';
import { lagCells, measureLag } from './testing/lag-cells.js';
import { VoiceCalls } from './testing/voice-call.js';

const calls = new VoiceCalls();
beforeAll(() => calls.prepare(), 180_000);
afterAll(() => calls.close());

/** Few, because `npm run accuracy` has all agents and 20 moments. */
const MOMENTS = 4;
const CELLS = sample(lagCells().filter(({ key }) => key === 'phone-barge-in' || key === 'phone-pauses'));

describe('a call in which the tester stalls for 80 to 250 ms', () => {
  it.each(CELLS.map((cell) => [cell.fault ?? 'healthy', cell.key, cell.style, cell] as const))(
    'is judged as without it, and all times are within their uncertainty: %s agent, %s, %s',
    async (...[, , , cell]) => {
      const { otherwise, beyond, same, repeated } = await measureLag(calls, cell, MOMENTS);
      expect([...otherwise, ...beyond]).toEqual([]);
      expect(same).toBeGreaterThan(repeated);
    },
  );
});
