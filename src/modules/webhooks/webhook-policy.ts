import { Injectable } from '@nestjs/common';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The rules of delivery (contract's extensions, "Webhook events"), in one place; times in milliseconds. */
@Injectable()
export class WebhookPolicy {
  /** Pauses after the first attempt, the second, and so on; after the last one the delivery has failed. */
  retryDelays: readonly number[] = [
    5 * SECOND,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
    24 * HOUR,
  ];
  /** Spreads retries, so that receivers that failed together are not asked together: up to this part, either way. */
  jitter = 0.1;
  /** The longest `Retry-After` that is honoured. */
  longestRetryAfter = DAY;
  /** For a whole attempt, from the look-up of the name to the end of the response. */
  timeout = 15 * SECOND;
  /** Of the response's body; what comes after it is not waited for. */
  maxResponseBytes = 4 * 1024;
  /** Deliveries to one receiver at the same time. */
  parallel = 4;
  /** The same while the receiver fails or the process is busy: hanging receivers must not use up its places. */
  parallelWhileScarce = 1;
  /** An endpoint that has failed for this long is disabled. */
  disableAfter = 5 * DAY;
  /** The replaced secret signs too for this long. */
  secretOverlap = DAY;
  /** Events and deliveries are kept for this long. */
  retention = 30 * DAY;
  /** How long the answer to a test waits for the first attempt. */
  testWait = 4 * SECOND;
  /** Endpoints of one workspace. */
  maxEndpoints = 50;
}

/** The pause before the next attempt, or undefined when there is none. */
export function nextDelay(
  policy: WebhookPolicy,
  attemptsMade: number,
  retryAfter: number | undefined,
  random: () => number = Math.random,
): number | undefined {
  const delay = policy.retryDelays[attemptsMade - 1];
  if (delay === undefined) return undefined;
  const spread = delay * (1 + policy.jitter * (2 * random() - 1));
  // Never earlier than the receiver asked for; never later than the cap for it.
  return Math.round(Math.max(spread, Math.min(retryAfter ?? 0, policy.longestRetryAfter)));
}

/**
 * Milliseconds that a `Retry-After` header asks to wait (RFC 9110, section 10.2.3: seconds or an HTTP date), or
 * undefined when there is none that can be understood.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * SECOND;
  // Date.parse takes much that is no HTTP date; those name the day of the week first.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
