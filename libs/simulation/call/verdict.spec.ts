import type { CheckResult } from '../checks/check-result.js';
import { decide } from './verdict.js';

const check = (met: boolean, decidedByEntry?: number): CheckResult => ({
  index: 0,
  type: 'says',
  name: 'Says that the table is booked',
  weight: 1,
  required: true,
  met,
  detail: 'The agent never said "booked"',
  evidence: [],
  ...(decidedByEntry !== undefined && { decidedByEntry }),
});

// openclaw/openclaw#65601: ws.terminate() of a healthy agent, a crash and a lost network look alike.
describe('the verdict on a call whose connection was closed without a hang-up', () => {
  const outcome = (...checks: CheckResult[]) => {
    const end = { code: 'connection_closed', reason: 'Closed with code 1006' } as const;
    const { outcome, failure } = decide({ checks, criteria: [], end, failure: undefined, invalidity: undefined });
    return [outcome, failure?.code, failure?.retryable];
  };

  it('is that of its checks if they are met', () =>
    expect(outcome(check(true))).toEqual(['passed', undefined, undefined]));

  it('is an error, to be tried again, if something is missing that may have been still to come', () => {
    expect(outcome(check(true), check(false))).toEqual(['error', 'connection_lost', true]);
  });

  it('is failed if what came before decides against the agent', () => {
    expect(outcome(check(false, 3))).toEqual(['failed', undefined, undefined]);
  });
});

// elevenlabs/packages#911: calls that end because a quota is used up.
describe('the verdict on a recorded call that its platform broke off', () => {
  const outcome = (...checks: CheckResult[]) => {
    const end = { code: 'platform_failed', reason: 'The platform ended the call: error_llm_websocket_open' } as const;
    const input = { checks, criteria: [], end, failure: undefined, invalidity: undefined, isProduction: true };
    const { outcome, reason } = decide(input);
    return [outcome, reason];
  };
  const error = ['error', 'The platform ended the call: error_llm_websocket_open.'];

  it.each([
    ['all of its checks are met', [check(true)]],
    ['something is missing that may have been still to come', [check(true), check(false)]],
    ['nothing was asked', []],
  ])('is an error that quotes the platform if %s', (_, checks) => expect(outcome(...checks)).toEqual(error));

  it('is failed if what came before decides against the agent', () => {
    expect(outcome(check(false, 3))[0]).toBe('failed');
  });
});
