import {
  type AgentAction,
  type Attempt,
  afterAttempt,
  type Blame,
  CallFailure,
  type CallResult,
  type FailureCode,
  FAILURES,
  inProcess,
  wasCutOff,
} from '../index.js';
import { agentSaying, call } from '../testing/calls.js';

const DEFINITION = {
  script: [{ say: 'Hello.' }, { say: 'A table, please.' }],
  checks: [
    { type: 'says', text: 'welcome' },
    { type: 'says', text: 'booked', weight: 3 },
  ],
} as const;

/** A call whose agent answers a number of turns and then fails with this failure. */
const broken = (code: FailureCode, { detail, answered = 1 }: { detail?: string; answered?: number } = {}) =>
  call(DEFINITION, {
    transport: inProcess(function* ({ messages }): Generator<AgentAction> {
      if (messages.length > 2 * answered) throw new CallFailure(code, detail);
      yield { say: 'Welcome!' };
    }),
  });
const TIMES = { startedAt: '2026-12-04T10:00:00.000Z', endedAt: '2026-12-04T10:00:01.000Z' };
/** An earlier attempt that ended as `error`. */
const error = (code: FailureCode, answeredTurns = 1): Attempt => ({
  outcome: 'error',
  failureCode: code,
  reason: `${FAILURES[code][2]}.`,
  callId: null,
  answeredTurns,
  ...TIMES,
});
const INVALID: Attempt = { ...error('internal'), outcome: 'invalid', failureCode: null };

/** A call whose caller hangs up while the agent is still asking: the caller broke its role. */
async function invalid(): Promise<CallResult> {
  const result = await call(DEFINITION, { transport: agentSaying(['Welcome!', 'It is booked.']) });
  const invalidity = { code: 'ended_early', message: 'The caller hung up too early', evidence: [] } as const;
  return { ...result, outcome: 'invalid', score: null, reason: 'The caller hung up too early.', invalidity };
}

const CODES = Object.keys(FAILURES) as FailureCode[];
const having = (...blames: Blame[]) => CODES.filter((code) => blames.includes(FAILURES[code][0]));

describe('afterAttempt', () => {
  it('ends with a decided outcome, independent of earlier attempts', async () => {
    const passed = await call(DEFINITION, { transport: agentSaying(['Welcome!', 'It is booked.']) });
    const failed = await call(DEFINITION, { transport: agentSaying(['Welcome!', 'No.']) });
    expect([passed.outcome, failed.outcome]).toEqual(['passed', 'failed']);
    for (const result of [passed, failed]) {
      for (const earlier of [[], [error('timeout'), INVALID, error('agent_status'), INVALID]])
        expect(afterAttempt(result, earlier)).toEqual({ next: 'end', result });
    }
  });

  it('retries twice after a transient error, with a longer delay each time', async () => {
    const result = await broken('timeout', { answered: 0 });
    expect(afterAttempt(result, [])).toEqual({ next: 'retry', delayMs: 1_000 });
    expect(afterAttempt(result, [error('timeout')])).toEqual({ next: 'retry', delayMs: 4_000 });
    expect(afterAttempt(result, [error('timeout'), error('http_status')])).toEqual({ next: 'end', result });
  });

  it.each([
    [500, [1_000, 4_000]],
    [20_000, [20_000, 20_000]],
    [3_600_000, [60_000, 60_000]],
  ])('waits for a Retry-After of %i ms, up to a minute', async (retryAfterMs, delays) => {
    const result = await broken('rate_limited');
    const asking = { ...result, failure: { ...result.failure!, retryAfterMs } };
    for (const [index, delayMs] of delays.entries()) {
      const earlier = Array<Attempt>(index).fill(error('rate_limited'));
      expect(afterAttempt(asking, earlier)).toEqual({ next: 'retry', delayMs });
    }
  });

  describe('after an attempt that the tester spoilt', () => {
    const atRandom = [
      [0, 1_000, 5_000],
      [0.5, 2_000, 10_000],
      [1, 3_000, 15_000],
    ] as const;

    it.each(['tester_overloaded', 'speech_failed', 'internal'] as const)(
      'retries %s after 2 and 10 seconds, half more or less at random',
      async (code) => {
        const result = await broken(code);
        for (const [random, first, second] of atRandom) {
          const next = (earlier: Attempt[]) => afterAttempt(result, earlier, { random: () => random });
          expect(next([])).toEqual({ next: 'retry', delayMs: first });
          expect(next([error('timeout')])).toEqual({ next: 'retry', delayMs: second });
          expect(next([error('timeout'), error(code)])).toEqual({ next: 'end', result });
        }
      },
    );

    it('counts ends of its thread apart from the retries, in both directions', async () => {
      const died = await broken('thread_ended');
      for (const [random, first, second] of atRandom) {
        const next = (earlier: Attempt[]) => afterAttempt(died, earlier, { random: () => random });
        expect(next([error('timeout'), error('timeout')])).toEqual({ next: 'retry', delayMs: first });
        expect(next([error('timeout'), error('thread_ended'), INVALID])).toEqual({ next: 'retry', delayMs: second });
      }
      const late = await broken('timeout', { answered: 0 });
      expect(afterAttempt(late, [error('thread_ended'), error('thread_ended')])).toEqual({
        next: 'retry',
        delayMs: 1_000,
      });
    });

    it('ends with an internal error when its thread has ended three times', async () => {
      const died = await broken('thread_ended');
      const after = afterAttempt(died, [error('thread_ended'), error('interrupted'), error('thread_ended')]);
      const message = 'Internal error of the tester: the thread that carried the call ended in three attempts';
      expect(after).toMatchObject({
        next: 'end',
        result: {
          outcome: 'error',
          score: null,
          reason: `${message}.`,
          failure: { code: 'internal', message, fault: 'infrastructure', retryable: true },
        },
      });
    });

    it('blames the agent for three failures of its own, whatever happened to the thread in between', async () => {
      const result = await broken('stream_cut');
      const earlier = [error('stream_cut'), error('thread_ended'), error('interrupted'), error('stream_cut')];
      expect(afterAttempt(result, earlier)).toMatchObject({ next: 'end', result: { outcome: 'failed' } });
    });
  });

  it('ends immediately with an error that is not retryable', async () => {
    for (const code of ['http_refused', 'redirect', 'answer_too_large', 'no_language_model'] as const) {
      const result = await broken(code, { answered: 0 });
      expect(result.outcome).toBe('error');
      expect(afterAttempt(result, [])).toEqual({ next: 'end', result });
    }
  });

  it('reruns an invalid call twice, without delay', async () => {
    const result = await invalid();
    expect(afterAttempt(result, [])).toEqual({ next: 'retry', delayMs: 0 });
    expect(afterAttempt(result, [INVALID])).toEqual({ next: 'retry', delayMs: 0 });
    expect(afterAttempt(result, [INVALID, INVALID])).toEqual({ next: 'end', result });
  });

  it('counts retries and reruns separately', async () => {
    const [unreachable, role] = [await broken('connection_failed'), await invalid()];
    expect(afterAttempt(unreachable, [INVALID, INVALID])).toEqual({ next: 'retry', delayMs: 1_000 });
    expect(afterAttempt(unreachable, [INVALID, error('timeout'), INVALID])).toEqual({ next: 'retry', delayMs: 4_000 });
    expect(afterAttempt(role, [error('timeout'), INVALID, error('timeout')])).toEqual({ next: 'retry', delayMs: 0 });
  });

  it.each(having('agent_after_answer', 'agent_if_repeated'))(
    'blames the agent for %s after an answered turn in every attempt',
    async (code) => {
      const result = await broken(code, { detail: 'HTTP 500' });
      const { message, retryable } = result.failure!;
      const earlier = { ...error(code), reason: `${message}.` };
      expect(afterAttempt(result, [])).toEqual({ next: 'retry', delayMs: 1_000 });
      expect(afterAttempt(result, [earlier])).toEqual({ next: 'retry', delayMs: 4_000 });
      expect(afterAttempt(result, [earlier, earlier])).toEqual({
        next: 'end',
        result: {
          ...result,
          outcome: 'failed',
          // Only the met check of weight 1 of 4 counts: it was said before the failure.
          score: 25,
          failure: { code, message: `${message}, in three of three attempts`, fault: 'agent', retryable: false },
          reason:
            `${message}, in three of three attempts. ` +
            'Not met: Agent says "booked" (The agent never said "booked", but "Welcome!").',
        },
      });
      expect(result).toMatchObject({ outcome: 'error', score: null, failure: { retryable } });
    },
  );

  it('blames the agent if every attempt broke off in a different way, and names all of them', async () => {
    const result = await broken('invalid_answer', { detail: 'a part of it is not JSON' });
    const after = afterAttempt(result, [error('timeout'), { ...error('agent_error'), reason: 'Sorry.' }]);
    expect(after).toMatchObject({ next: 'end', result: { outcome: 'failed', failure: { code: 'invalid_answer' } } });
    expect(after.next === 'end' && after.result.failure?.message).toBe(
      "First attempt: The agent's response was not complete in time; second attempt: Sorry; " +
        "third attempt: The agent's response is not a chat completion: a part of it is not JSON",
    );
  });

  it.each(having('agent_if_repeated'))('blames the agent for %s also before it has answered a turn', async (code) => {
    const result = await broken(code, { answered: 0 });
    for (const earlier of [code, 'agent_status', 'stream_cut'] as const) {
      expect(afterAttempt(result, [error(earlier, 0), error(code, 0)])).toMatchObject({
        result: { outcome: 'failed' },
      });
    }
  });

  it.each(having('infrastructure', 'agent_after_answer').filter((failureCode) => !wasCutOff({ failureCode })))(
    'never blames the agent for %s before it has answered a turn',
    async (code) => {
      const result = await broken(code, { answered: 0 });
      expect(result).toMatchObject({ outcome: 'error', answeredTurns: 0 });
      expect(afterAttempt(result, [error(code, 0), error(code, 0)])).toEqual({ next: 'end', result });
    },
  );

  it.each<[string, FailureCode, Attempt[]]>([
    ['one attempt failed before an answered turn', 'timeout', [error('timeout', 0), error('timeout')]],
    ['one failure was not its own', 'agent_status', [error('name_not_found'), error('agent_status')]],
    ['one attempt was invalid', 'stream_cut', [error('stream_cut'), INVALID, error('stream_cut')]],
    ['its name could not be resolved', 'name_not_found', [error('name_not_found'), error('name_not_found')]],
    ['it limits the rate of requests', 'rate_limited', [error('rate_limited'), error('rate_limited')]],
    ["the tester's own model failed", 'llm_status', [error('llm_status'), error('llm_status')]],
    ['an older version recorded the attempts', 'timeout', [legacy('timeout'), legacy('timeout')]],
  ])('does not blame the agent if %s', async (_what, code, earlier) => {
    const result = await broken(code);
    expect(result.outcome).toBe('error');
    expect(afterAttempt(result, earlier)).toEqual({ next: 'end', result });
  });
});

function legacy(code: FailureCode): Attempt {
  const { answeredTurns: _answeredTurns, callId: _callId, ...attempt } = error(code);
  return attempt;
}
