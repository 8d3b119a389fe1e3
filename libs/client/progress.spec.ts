import type { CallEvent } from './follow.js';
import { progressOf } from './progress.js';
import { countsOf, runOf } from './testing/factories.js';

const painted = (style: string, text: string) => `<${style}>${text}</>`;

function streamOf(fields: { isTTY?: boolean; columns?: number } = {}) {
  let text = '';
  return { ...fields, write: (more: string) => (text += more), text: () => text };
}

const call = (id: string, values: Partial<CallEvent> = {}): { type: 'call'; call: CallEvent } => ({
  type: 'call',
  call: {
    id,
    evaluationName: 'Books',
    caseKey: 'books',
    variables: null,
    repetition: 1,
    status: 'ENDED',
    outcome: 'passed',
    score: 100,
    reason: null,
    ...values,
  },
});
const running = (totalCalls: number, pending: number, passed = 0, repeat = 1) =>
  runOf({ status: 'RUNNING', totalCalls, repeat, counts: countsOf({ pending, passed }) });

describe('progress', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('draws a bar on a terminal by a timer and erases it at the end', () => {
    const stream = streamOf({ isTTY: true, columns: 80 });
    const progress = progressOf(running(4, 4), stream, painted, {});
    progress.show({ type: 'run', run: running(4, 3, 1) });
    progress.show({ type: 'run', run: running(4, 2, 2) });
    jest.advanceTimersByTime(61_000);
    progress.end();
    const drawn = stream.text().split('\r\u001B[2K');
    expect(drawn[1]).toBe(`${'░'.repeat(24)} 0/4  0:00`);
    // States between two timer ticks are not drawn.
    expect(drawn[2]).toBe(`${'█'.repeat(12)}${'░'.repeat(12)} 2/4  <green>2 passed</>  0:00`);
    expect(drawn.at(-2)).toContain('1:01');
    expect(drawn.at(-1)).toBe('');
  });

  it('never draws a line that wraps', () => {
    const stream = streamOf({ isTTY: true, columns: 40 });
    const run = runOf({
      totalCalls: 4000,
      counts: countsOf({ passed: 1000, failed: 1000, error: 1000, invalid: 1000 }),
    });
    progressOf(run, stream, (_, text) => text, {}).end();
    expect(stream.text().split('\r\u001B[2K')[1]!.length).toBeLessThan(40);
  });

  it('prints one line per ended call to a log', () => {
    const stream = streamOf();
    const progress = progressOf(running(2, 2, 0, 2), stream, painted, {});
    progress.show(call('a', { status: 'RUNNING', outcome: null }));
    progress.show(call('a'));
    progress.show(call('a'));
    progress.show(call('b', { outcome: 'failed', reason: 'Wrong\u001B[2J\nhours', repetition: 2 }));
    progress.show({ type: 'note', text: 'Connection lost; resuming.' });
    progress.end();
    expect(stream.text()).toBe(
      '1/2  passed   Books (1 of 2): score 100\n2/2  failed   Books (2 of 2): Wrong�[2J hours\nConnection lost; resuming.\n',
    );
  });

  it('prints counts at intervals for a large run and while no call ends', () => {
    const stream = streamOf();
    const progress = progressOf(running(1000, 1000), stream, painted, {});
    for (let ended = 1; ended <= 60; ended++) {
      jest.advanceTimersByTime(200);
      progress.show(call(`c${ended}`));
      progress.show({ type: 'run', run: running(1000, 1000 - ended, ended) });
    }
    expect(stream.text().split('\n')).toHaveLength(3);
    jest.advanceTimersByTime(65_000);
    progress.end();
    expect(stream.text()).toMatch(/^(1,000 calls, \d+ passed, \d+ pending; \d:\d\d so far\n){4}$/);
  });
});
