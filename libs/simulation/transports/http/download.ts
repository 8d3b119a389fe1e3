import { type OutboundClient, OutboundError } from '../../../outbound-http/index.js';
import { OtherSide } from '../../other-side/other-side.js';
import { CallFailure } from '../../timeline/failure.js';
import type { TakeSound } from '../modules/records.js';
import type { ForeignAddress } from './foreign-address.js';
import { codeOfStatus, OUTBOUND_CODES, systemError } from './outbound-failures.js';

/** 200 MiB at 6 Mbit/s. */
const TIMEOUT_MS = 300_000;
const MAX_BYTES = 200 * 1024 * 1024;
/** Of addresses that have expired, or whose file is not yet there. */
const MISSING: ReadonlySet<number> = new Set([403, 404, 410]);

/**
 * Reads a recording, in parts, from an address that a platform's answer names. Nothing of ours is sent there, and it leads no further.
 * @returns false if there is none @throws CallFailure; the signal's reason
 */
export async function download(
  { url, shown, secrets }: ForeignAddress,
  { client, signal }: { readonly client: OutboundClient; readonly signal: AbortSignal },
  take: TakeSound,
): Promise<boolean> {
  const host = new OtherSide(shown, secrets);
  try {
    const { status, headers, body, close } = await client.open({
      ...{ url, signal, timeoutMs: TIMEOUT_MS, maxUnreadBytes: MAX_BYTES },
    });
    if (status !== 200) {
      close();
      if (MISSING.has(status)) return false;
      // Without its status: it says nothing about the key, which is not sent there.
      throw new CallFailure(codeOfStatus(status), host.describe({ what: `HTTP ${status}` }));
    }
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') {
      close();
      const what = `it is compressed (${encoding.slice(0, 20)}), which was not asked for`;
      throw new CallFailure('bad_response', host.describe({ what }));
    }
    let bytes = 0;
    for await (const part of body) {
      bytes += part.length;
      if (bytes > MAX_BYTES) throw new CallFailure('answer_too_large', host.describe({ what: 'more than 200 MiB' }));
      // A copy: what passes between threads takes its whole buffer along.
      await take(Uint8Array.from(part));
    }
    return true;
  } catch (cause) {
    if (!(cause instanceof OutboundError)) throw cause;
    signal.throwIfAborted();
    throw new CallFailure(OUTBOUND_CODES[cause.reason], host.describe({ what: systemError(cause) }), { cause });
  }
}
