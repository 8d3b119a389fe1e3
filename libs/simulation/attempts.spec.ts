import {
  type AgentAction,
  type Attempt,
  afterAttempt,
  CallFailure,
  type CallResult,
  type FailureCode,
  inProcess,
} from './index.js';
import { agentSaying, call } from './testing/calls.js';

const DEFINITION = {
  script: [{ say: 'Hello.' }, { say: 'A table, please.' }],
  checks: [
    { type: 'says', text: 'welcome' },
    { type: 'says', text: 'booked', weight: 3 },
  ],
} as const;

/** A call whose agent greets and then fails with this failure. */
const broken = (code: FailureCode, detail?: string): Promise<CallResult> =>
  call(DEFINITION, {
    transport: inProcess(function* ({ messages }): Generator<AgentAction> {
      if (messages.length > 1) throw new CallFailure(code, detail);
      yield { say: 'Welcome!' };
    }),
  });
const attempt = (outcome: Attempt['outcome'], failureCode: FailureCode | null = null): Attempt => ({
  outcome,
  failureCode,
  reason: 'A reason.',
  startedAt: '2026-12-04T10:00:00.000Z',
  endedAt: '2026-12-04T10:00:01.000Z',
});
const error = (code: FailureCode) => attempt('error', code);
const INVALID = attempt('invalid');

/** A call whose caller hangs up while the agent is still asking: the caller broke its role. */
async function invalid(): Promise<CallResult> {
  const result = await call(DEFINITION, { transport: agentSaying(['Welcome!', 'It is booked.']) });
  const invalidity = { code: 'ended_early', message: 'The caller hung up too early', evidence: [] } as const;
  return { ...result, outcome: 'invalid', score: null, reason: 'The caller hung up too early.', invalidity };
}

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

  it('tries twice again after an error that may pass, with a longer wait each time', async () => {
    const result = await broken('timeout');
    expect(afterAttempt(result, [])).toEqual({ next: 'retry', delayMs: 1_000 });
    expect(afterAttempt(result, [error('timeout')])).toEqual({ next: 'retry', delayMs: 4_000 });
    expect(afterAttempt(result, [error('timeout'), error('http_status')])).toEqual({ next: 'end', result });
  });

  it('ends immediately with an error that is not retryable', async () => {
    for (const code of ['http_refused', 'redirect', 'answer_too_large', 'no_language_model'] as const) {
      const result = await broken(code);
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

  it.each([
    ['agent_status', 'The agent responded with a server error: HTTP 500', 'HTTP 500'],
    ['stream_cut', "The agent's response was cut off", undefined],
  ] as const)('blames the agent for %s when it was so in every attempt', async (code, message, detail) => {
    const result = await broken(code, detail);
    expect(afterAttempt(result, [error(code)])).toEqual({ next: 'retry', delayMs: 4_000 });
    const after = afterAttempt(result, [error(code), error(code)]);
    expect(after).toEqual({
      next: 'end',
      result: {
        ...result,
        outcome: 'failed',
        // Only the met check of weight 1 of 4 counts: it was said before the failure.
        score: 25,
        failure: { code, message: `${message}, in three of three attempts`, fault: 'agent', retryable: false },
        reason:
          `${message}, in three of three attempts. ` + 'Not met: Agent says "booked" (The agent never said "booked").',
      },
    });
    expect(result).toMatchObject({ outcome: 'error', score: null });
  });

  it.each<[string, FailureCode, Attempt[]]>([
    ['one other failure', 'agent_status', [error('timeout'), error('agent_status')]],
    ['one of each failure', 'stream_cut', [error('stream_cut'), error('agent_status')]],
    ['one invalid call', 'stream_cut', [error('stream_cut'), INVALID, error('stream_cut')]],
    ['a gateway that is down', 'http_status', [error('http_status'), error('http_status')]],
    ['closed port', 'connection_failed', [error('connection_failed'), error('connection_failed')]],
    ['no answer in time', 'timeout', [error('timeout'), error('timeout')]],
    ['an invalid answer', 'invalid_answer', [error('invalid_answer'), error('invalid_answer')]],
    ["the tester's own model", 'llm_status', [error('llm_status'), error('llm_status')]],
  ])('never blames the agent for %s', async (_what, code, earlier) => {
    const result = await broken(code);
    expect(result.outcome).toBe('error');
    expect(afterAttempt(result, earlier)).toEqual({ next: 'end', result });
  });
});
