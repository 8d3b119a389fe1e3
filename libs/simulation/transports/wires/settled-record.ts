import { setTimeout as sleep } from 'node:timers/promises';
import { CallFailure } from '../../timeline/failure.js';
import type { ProductionCall } from '../modules/records.js';

const EVERY_MS = 2_000;

/**
 * The record of a call that has just ended. Platforms write it piece by piece: it is whole when two readings are the same.
 * @throws CallFailure if it cannot be read; the signal's reason
 */
export async function settledRecord(
  read: () => Promise<ProductionCall | null>,
  signal: AbortSignal,
  everyMs = EVERY_MS,
): Promise<ProductionCall> {
  for (let before: string | undefined; ; await sleep(everyMs, undefined, { signal })) {
    const record = await read().catch((error: unknown) => {
      if (error instanceof CallFailure && error.failure.retryable) return null;
      throw error;
    });
    if (!record?.toolCalls || !record.said) continue;
    const { said, toolCalls, endedReason } = record;
    // A call that was answered has more: such a record does not say that no tool was called.
    if (said.length === 0 && toolCalls.length === 0) continue;
    const now = JSON.stringify([said, toolCalls, endedReason]);
    if (now === before) return record;
    before = now;
  }
}
