import { CallFailure } from '../../timeline/failure.js';
import type { ProductionCall } from '../modules/records.js';
import { settledRecord } from './settled-record.js';

const TOOL = { name: 'book', arguments: {}, result: null, startMs: 5 };
const SAID = { speaker: 'agent' as const, text: 'Good evening.', startMs: 0, endMs: 900 };
const recordOf = (more: Partial<ProductionCall> = {}): ProductionCall => ({
  ...{ id: 'call_1', startedAt: 0, endedAt: 9_000, said: [SAID], toolCalls: [], endedReason: 'user_hangup' },
  ...{ latencies: {}, recording: 'awaited', attemptId: null, callerNumber: null, ...more },
});
const { signal } = new AbortController();

/** Reads these one after the other, the last one again and again. */
function reader(...found: readonly (ProductionCall | null | CallFailure)[]) {
  let read = 0;
  const next = () => {
    const one = found[Math.min(read++, found.length - 1)]!;
    return one instanceof CallFailure ? Promise.reject(one) : Promise.resolve(one);
  };
  return { next, reads: () => read };
}

describe('The record of a call that has just ended', () => {
  it('counts when two readings of it are the same', async () => {
    const whole = recordOf({ toolCalls: [TOOL] });
    const { next, reads } = reader(null, recordOf({ said: null }), recordOf(), whole, whole);
    expect(await settledRecord(next, signal, 1)).toBe(whole);
    expect(reads()).toBe(5);
  });

  it('does not wait for what its recording and its latencies become', async () => {
    const found = recordOf({ recording: 'available', latencies: { e2e: [800] } });
    expect(await settledRecord(reader(recordOf(), found).next, signal, 1)).toBe(found);
  });

  it('is read again after a failure that may pass, and not after a refusal', async () => {
    const { next } = reader(new CallFailure('rate_limited'), recordOf());
    expect(await settledRecord(next, signal, 1)).toEqual(recordOf());
    await expect(settledRecord(reader(new CallFailure('platform_refused')).next, signal, 1)).rejects.toThrow();
  });

  // docs.retellai.com/api-references/get-call: what the agent's data storage setting excludes is not in the record.
  it.each<[string, Partial<ProductionCall>]>([
    ['without tool calls', { toolCalls: null }],
    ['without words', { said: null }],
    ['that is empty', { said: [] }],
  ])('%s is waited for until the time is over', async (_what, more) => {
    const over = AbortSignal.timeout(50);
    await expect(settledRecord(reader(recordOf(more)).next, over, 1)).rejects.toThrow();
  });
});
