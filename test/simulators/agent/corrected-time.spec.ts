import { normalise } from '../../../libs/evaluation-definition/index.js';
import { correctedTimeEvaluation, WRONG_TIME_CHECKS } from './corrected-time.js';
import { play } from './testing/play.js';

describe('the evaluation of a corrected time', () => {
  const evaluation = { ...correctedTimeEvaluation('any'), ...normalise(correctedTimeEvaluation('any')) };

  it('passes for a healthy agent, and fails for one that confirms the first time', async () => {
    const [healthy, faulty] = [await play(evaluation as any), await play(evaluation as any, 'ignores-correction')];
    expect(healthy.failed).toEqual([]);
    expect(healthy.spoken.map(({ text }) => text).join()).toMatch(/table is booked .* at 20:30/);
    expect(faulty.failed).toEqual([...WRONG_TIME_CHECKS]);
    expect(faulty.spoken.map(({ text }) => text).join()).toMatch(/table is booked .* at 19:30/);
  });
});
