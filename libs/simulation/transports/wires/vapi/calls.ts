import { OutboundError, type OutboundClient } from '../../../../outbound-http/index.js';
import { READ_LIMITS } from '../../../other-side/read-limits.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import { type ForeignAddress, foreignAddress } from '../../http/foreign-address.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { PlatformRequest } from '../../modules/endpoint.js';
import { Fields } from '../fields.js';
import { markOf } from './options.js';
import { VAPI_RULES } from './refusals.js';

/** What ends a call of the platform. */
export interface VapiHandle {
  readonly id: string;
  /** Where it is ended; null if `controlEnabled` of the assistant is false. */
  readonly controlUrl: string | null;
}

/** An id that can be stored, and be a segment of a path. */
const ID = /^(?!\.{1,2}$)[^\p{C}]{1,256}$/u;
const END_MS = 10_000;
/** A call is searched for among those of the last milliseconds. */
const SEARCHED_MS = 60 * 60_000;
const ENDED: ReadonlySet<unknown> = new Set(['ended', 'not-found', 'deletion-failed']);

/** @returns null for what is not the record of a call */
export function handleOf(record: unknown): VapiHandle | null {
  try {
    const call = new Fields(record);
    const id = call.text('id');
    if (!ID.test(id)) return null;
    return { id, controlUrl: controlAddress(call)?.url ?? null };
  } catch {
    return null;
  }
}

/** An address on another host, which gets neither key nor header. */
const controlAddress = (call: Fields): ForeignAddress | undefined =>
  call.has('monitor') ? foreignAddress(call.of('monitor').raw('controlUrl'), 'https', 'controlUrl') : undefined;

/**
 * Ends a call by its `controlUrl`. Never by DELETE, which deletes the record and not the call.
 * @throws CallFailure if it may still be open
 */
export async function endCall(handle: JsonValue, { endpoint, client, signal }: PlatformRequest): Promise<void> {
  const { id, controlUrl } = handle as unknown as VapiHandle;
  const refused =
    controlUrl === null ? 'controlEnabled of the assistant is false' : await asked(controlUrl, client, signal);
  if (refused === undefined) return;
  const api = new PlatformApi(VAPI_RULES, { ...endpoint, client });
  const record = await api
    .json(`/call/${encodeURIComponent(id)}`, { limit: READ_LIMITS.record, signal })
    .catch((error: unknown) => {
      if (error instanceof CallFailure && error.failure.status === 404) return { status: 'not-found' };
      throw error;
    });
  if (ENDED.has((record as { readonly status?: unknown } | null)?.status)) return;
  throw new CallFailure('platform_unended', api.platform.describe({ what: refused }));
}

/** @returns why the platform did not end the call; undefined if it did. What it said is not shown. */
async function asked(url: string, client: OutboundClient, signal: AbortSignal): Promise<string | undefined> {
  const body = JSON.stringify({ type: 'end-call' });
  const headers = { 'content-type': 'application/json' };
  try {
    const { status } = await client.request({
      ...{ url, method: 'POST', headers, body, signal },
      ...{ timeoutMs: END_MS, maxBodyBytes: 4_096 },
    });
    return status >= 200 && status < 300 ? undefined : `controlUrl answered with HTTP ${status}`;
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    signal.throwIfAborted();
    return `controlUrl could not be asked: ${cause.reason}`;
  }
}

/** The call that has the mark of an attempt, if it may be open. */
export async function findCall(attemptId: string, request: PlatformRequest): Promise<JsonValue | null> {
  const { endpoint, client, signal } = request;
  const api = new PlatformApi(VAPI_RULES, { ...endpoint, client });
  const query = { createdAtGt: new Date(Date.now() - SEARCHED_MS).toISOString(), limit: '1000' };
  const records = await api.json('/call', { query, limit: READ_LIMITS.record, signal });
  if (!Array.isArray(records)) throw api.notUnderstood('its answer is not a list of calls');
  const record = (records as ({ readonly name?: unknown; readonly status?: unknown } | null)[]).find(
    (one) => one?.name === markOf(attemptId) && !ENDED.has(one.status),
  );
  return record ? (handleOf(record) as unknown as JsonValue) : null;
}
