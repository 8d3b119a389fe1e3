import type { ServerResponse } from 'node:http';
import { agentSaying, call } from '../testing/calls.js';
import { type Asked, stubModel, verdict } from '../../../test/simulators/model/llm-stub.js';
import { sendCompletion, TestServers } from '../../../test/simulators/servers.js';
import { VirtualClock } from '../index.js';

const servers = new TestServers();
afterEach(() => servers.close());

type Answer = string | object | ((response: ServerResponse) => void);
type Role = 'caller' | 'judge';

const LINES = [
  { say: 'A table, please.', end: null },
  { say: 'Goodbye.', end: 'It is booked' },
];
const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end('{}');
const json = (body: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(body);

const TIME_OUT = () => undefined;
const CUT = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
  response.write('{"choices": [');
  setImmediate(() => response.destroy());
};
const EMPTY = (response: ServerResponse) => sendCompletion(response, '');
const INVENTED = { met: false, quote: 'I hate tables', reasoning: 'It is rude.' };

/** A call of a generated caller with a criterion, whose model answers badly a number of times in one of its roles. */
async function play(role: Role, bad: Answer, times = Infinity) {
  let line = 0;
  let badAnswers = 0;
  const reply = (asked: Asked): Answer => {
    if (asked.role === role && badAnswers < times) {
      badAnswers++;
      return bad;
    }
    return asked.role === 'judge' ? verdict(asked, true) : LINES[Math.min(line++, 1)]!;
  };
  const { model } = await stubModel(servers, reply, { timeoutMs: bad === TIME_OUT ? 500 : 10_000 });
  const clock = new VirtualClock();
  const result = await call(
    { criteria: [{ text: 'The agent books a table.' }] },
    { transport: agentSaying(['Your table is booked.', 'Goodbye.']), model, clock },
  );
  return { result, badAnswers, waitedMs: clock.now() };
}

const MISBEHAVIOURS: readonly [string, Answer, string][] = [
  ['does not answer in time', TIME_OUT, 'llm_timeout'],
  ['answers 429 with Retry-After', status(429, { 'retry-after': '7' }), 'llm_rate_limited'],
  ['answers 500', status(500), 'llm_status'],
  ['breaks off its answer', CUT, 'llm_unreachable'],
  ['answers with invalid JSON', json('{"choices": [{'), 'llm_invalid_answer'],
];
const ROLES: readonly Role[] = ['caller', 'judge'];
const everyRole = ROLES.flatMap((role) => MISBEHAVIOURS.map(([what, bad, code]) => [role, what, bad, code] as const));

describe('misbehaving language model', () => {
  it.each(everyRole)('is asked again if, as %s, it %s once', async (role, _what, bad) => {
    const { result, badAnswers } = await play(role, bad, 1);
    expect(result).toMatchObject({ outcome: 'passed', score: 100, failure: null });
    expect(badAnswers).toBe(1);
    // The tester's own waiting time is not part of the call.
    expect(result.measures).toMatchObject({ durationMs: 0, latency: { worst: 0 } });
  });

  it.each(everyRole)('makes the call an error if, as %s, it %s every time', async (role, _what, bad, code) => {
    const { result } = await play(role, bad);
    expect(result).toMatchObject({
      outcome: 'error',
      score: null,
      failure: { code, fault: 'infrastructure', retryable: true },
    });
    expect(result.reason).toBe(`${result.failure?.message}.`);
  });

  it('is not asked again before its Retry-After has passed', async () => {
    const { waitedMs } = await play('caller', status(429, { 'retry-after': '7' }), 2);
    expect(waitedMs).toBe(14_000);
  });

  it('makes the call invalid with empty answers as the caller, and gives no verdict with empty answers as the judge', async () => {
    expect((await play('caller', EMPTY)).result).toMatchObject({
      outcome: 'invalid',
      invalidity: { code: 'caller_unusable' },
    });
    expect((await play('judge', EMPTY)).result).toMatchObject({
      outcome: 'error',
      failure: { code: 'no_verdict' },
      criteria: [{ verdict: 'no_verdict' }],
    });
  });

  it('is ignored when it quotes text that is not in the transcript, about the agent and about the caller', async () => {
    const { result } = await play('judge', INVENTED);
    expect(result).toMatchObject({
      outcome: 'error',
      score: null,
      invalidity: null,
      failure: { code: 'no_verdict' },
      criteria: [{ verdict: 'no_verdict', evidence: null }],
    });
  });
});
