import { CallFailure } from '../../timeline/failure.js';
import { History } from './history.js';

describe('History', () => {
  it('has the messages as they came', () => {
    const history = new History();
    history.add({ role: 'user', content: 'Hello' });
    history.add({ role: 'agent', content: 'Good evening' });
    expect(JSON.parse(history.json)).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'agent', content: 'Good evening' },
    ]);
  });

  it.each([
    ['nested too deeply to be written', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['too long', JSON.stringify({ x: 'x'.repeat(3 * 1024 * 1024) })],
  ])('refuses a message that is %s', (_what, json) => {
    const history = new History();
    const message = JSON.parse(json) as object;
    expect(() => history.add(message)).toThrow(CallFailure);
  });
});
