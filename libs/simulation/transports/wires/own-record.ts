import type { AgentCall, AgentEndpoint } from '../modules/endpoint.js';
import type { ProductionCall, Records } from '../modules/records.js';
import { settledRecord } from './settled-record.js';

/** How long before it is searched for a call may have ended, and how far the clock of the platform may be ahead. */
const APART_MS = 2 * 60_000;

/**
 * The record of a call of ours that has just ended: that of its id, or else the one of the assistant that has our mark.
 * @param endpoint the API of the platform
 * @returns null if no call had our mark when the signal was aborted @throws CallFailure; the signal's reason
 */
export async function ownRecord(
  records: Records,
  endpoint: AgentEndpoint,
  { client, assistantId, callId }: AgentCall,
  signal: AbortSignal,
  id?: string | null,
): Promise<ProductionCall | null> {
  const request = { endpoint, client, signal, turn: () => Promise.resolve() };
  const from = Date.now() - APART_MS;
  let known = id ?? undefined;
  const find = async () => {
    const { items } = await records.list({ assistantId, from, until: Date.now() + APART_MS }, request);
    return items.find(({ attemptId }) => attemptId === callId.toLowerCase())?.id;
  };
  const read = async () => {
    known ??= await find();
    const record = known === undefined ? null : await records.get(known, request);
    return record?.id === known ? record : null;
  };
  return settledRecord(read, signal).catch((error: unknown) => {
    if (known === undefined && signal.aborted) return null;
    throw error;
  });
}
