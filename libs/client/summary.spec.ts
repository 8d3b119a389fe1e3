import { cells, exitCodeOf, rowsOf, summarise, verdictLine } from './summary.js';
import { callOf, countsOf, runOf } from './testing/factories.js';

const ATTEMPT = {
  ...({ outcome: 'error', reason: '', callId: null, answeredTurns: 0 } as const),
  ...{ startedAt: '2026-01-01T00:00:00.000Z', endedAt: '2026-01-01T00:00:01.000Z' },
};

describe('summary', () => {
  it('groups the calls by evaluation, in the order of the plan', () => {
    const { evaluations } = summarise(runOf(), [
      callOf({ evaluationId: 'b', evaluationName: 'B', latencies: [100, 300] }),
      callOf({
        evaluationId: 'b',
        evaluationName: 'B',
        outcome: 'error',
        score: null,
        reason: 'Gone',
        latencies: [9],
        retries: 2,
      }),
      callOf({
        evaluationId: 'b',
        evaluationName: 'B',
        outcome: 'failed',
        score: 50,
        reason: 'Wrong',
        latencies: [200, 400, 500],
      }),
      callOf({ evaluationId: 'a', evaluationName: 'A', outcome: 'invalid', score: null, reason: 'Looped' }),
      callOf({ evaluationId: 'c', evaluationName: 'C', outcome: null, score: null, reason: null, status: 'CANCELLED' }),
    ]);
    expect(evaluations).toEqual([
      // The reason comes from the failed call, not from an earlier uncounted call; uncounted calls have no latency.
      {
        ...row('b', 'B', 'failed', 3),
        passed: 1,
        failed: 1,
        error: 1,
        retried: 1,
        stability: 'flaky',
        passAtK: [0.5, 1],
        passHatK: [0.5, 0],
        score: 75,
        latencyP50: 300,
        latencyP95: 500,
        reason: 'Wrong',
      },
      { ...row('a', 'A', 'invalid', 1), invalid: 1, reason: 'Looped' },
      row('c', 'C', 'cancelled', 1),
    ]);
    const [halved] = summarise(runOf({ status: 'CANCELLED' }), [
      callOf({ evaluationId: 'e' }),
      callOf({ evaluationId: 'e', outcome: null, score: null, reason: null, status: 'CANCELLED' }),
    ]).evaluations;
    expect(halved).toMatchObject({ outcome: 'passed', passed: 1, calls: 2, stability: null });
    const queued = callOf({
      evaluationId: 'd',
      evaluationName: 'D',
      outcome: null,
      score: null,
      reason: null,
      status: 'QUEUED',
    });
    const going = summarise(runOf({ status: 'RUNNING', endedAt: null }), [queued]);
    expect(going.evaluations).toEqual([row('d', 'D', 'pending', 1)]);
  });

  const row = (id: string, name: string, outcome: string, calls: number) => ({
    ...{ id, caseKey: id, variables: null },
    ...{ name, outcome, calls, passed: 0, failed: 0, invalid: 0, error: 0, provisional: 0, retried: 0 },
    ...{
      stability: null,
      passAtK: [],
      passHatK: [],
      score: null,
      latencyP50: null,
      latencyP95: null,
      reason: null,
      failureCode: null,
    },
  });

  it('counts no call of a provisional evaluation, and shows how it ended', () => {
    const failed = { outcome: 'failed', score: 20, reason: 'Not met: books' } as const;
    const calls = [callOf({ evaluationId: 'p', evaluationName: 'P', provisional: true, latencies: [90], ...failed })];
    expect(summarise(runOf(), calls).evaluations).toEqual([
      { ...row('p', 'P', 'provisional', 1), provisional: 1, reason: 'failed: Not met: books' },
    ]);
    const run = runOf({ totalCalls: 2, counts: countsOf({ passed: 1, provisional: 1 }) });
    expect(verdictLine(run)).toBe('Gate met: 2 calls, 1 passed, 1 provisional; score 100.');
  });

  it('has an entry for each case of an evaluation', () => {
    const calls = [4, 2].flatMap((people) =>
      [1, 2].map((repetition) => callOf({ caseKey: `e#${people}`, variables: { people }, repetition })),
    );
    expect(summarise(runOf(), calls).evaluations.map(({ name, passed }) => [name, passed])).toEqual([
      ['Books a table (people: 4)', 2],
      ['Books a table (people: 2)', 2],
    ]);
  });

  it('shows only evaluations that did not pass if there are many, and counts the rest', () => {
    const calls = Array.from({ length: 350 }, (_, index) =>
      callOf({ evaluationId: `${index}`, evaluationName: `${index}`, outcome: index % 2 === 0 ? 'passed' : 'failed' }),
    );
    const { rows, rest } = rowsOf(summarise(runOf(), calls));
    expect(rows.map(({ outcome }) => outcome)).toEqual(Array(100).fill('failed'));
    expect(rest).toBe('Not shown: 175 evaluations passed and 75 more that did not pass; use --json for all of them.');
    expect(rowsOf(summarise(runOf(), calls.slice(0, 100)))).toMatchObject({ rows: { length: 100 } });
  });
});

describe('the failure code of a call that ended as error', () => {
  const attempt = (failureCode: string | null) => ({ ...ATTEMPT, failureCode });
  const reasonOf = (values: Parameters<typeof callOf>[0]) =>
    cells(summarise(runOf(), [callOf(values)]).evaluations[0]!).reason;

  it('follows the reason, of the attempt that counts, and is not cut off with it', () => {
    const attempts = [attempt('stt_slow'), attempt('stt_failed')];
    expect(reasonOf({ outcome: 'error', reason: 'It is down.', attempts })).toBe('It is down. (stt_failed)');
    const long = reasonOf({ outcome: 'error', reason: 'It is down. '.repeat(50), attempts });
    expect(long).toMatch(/… \(stt_failed\)$/);
    expect(long.length).toBeLessThanOrEqual(240);
  });

  it('is not shown where the agent is to blame, or there is none', () => {
    expect(reasonOf({ outcome: 'failed', reason: 'Wrong.', attempts: [attempt('agent_error')] })).toBe('Wrong.');
    expect(reasonOf({ outcome: 'error', reason: 'Gone.', attempts: [attempt(null)] })).toBe('Gone.');
  });
});

describe('retried calls', () => {
  it('are shown although all calls passed', () => {
    const run = runOf({ totalCalls: 10, retriedCalls: 2, counts: countsOf({ passed: 10 }) });
    expect(verdictLine(run)).toBe('Gate met: 10 calls (2 retried), 10 passed; score 100.');
  });
});

describe('exit code', () => {
  it.each([
    [0, 0, 'COMPLETED', { passed: 1, failed: 1 }, 'Gate met: 2 calls, 1 passed, 1 failed; score 50.'],
    [1, 1, 'FAILED', { failed: 2 }, 'Gate not met: 2 calls, 0 passed, 2 failed; score 50.'],
    [2, 2, 'FAILED', { passed: 1, error: 1 }, 'Gate not met: 2 calls, 1 passed, 1 error; score 50.'],
    [2, 2, 'FAILED', { error: 1, invalid: 1 }, 'No result: 2 calls, 0 passed, 1 invalid, 1 error; no score.'],
    [2, 2, 'CANCELLED', { passed: 1, cancelled: 1 }, 'Cancelled: 2 calls, 1 passed, 1 cancelled; score 50.'],
    [2, null, 'RUNNING', { passed: 1, pending: 1 }, 'In progress: 2 calls, 1 passed, 1 pending; score 50.'],
  ] as const)('is %i if the service says %j for a run that is %s with %j', (code, exitCode, status, counts, line) => {
    const run = runOf({ status, exitCode, score: 50, totalCalls: 2, counts: countsOf(counts) });
    expect(exitCodeOf(run)).toBe(code);
    expect(verdictLine(run)).toBe(line);
  });
});
