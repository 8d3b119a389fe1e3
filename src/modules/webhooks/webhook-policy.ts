import { Injectable } from '@nestjs/common';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The rules of delivery, in one place; times in milliseconds. */
@Injectable()
export class WebhookPolicy {
  /** Delays after the first attempt, the second and so on; after the last one the delivery fails. */
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
  /** Random variation of the delays as a fraction in both directions, to spread retries. */
  jitter = 0.1;
  /** The longest `Retry-After` that is honoured. */
  longestRetryAfter = DAY;
  /** For a whole attempt, from the DNS lookup to the end of the response. */
  timeout = 15 * SECOND;
  /** Maximum size of the response body; the rest is not read. */
  maxResponseBytes = 4 * 1024;
  /** Maximum number of concurrent deliveries to one receiver. */
  parallel = 4;
  /** The same while the receiver fails or the process is busy, so that slow receivers do not block others. */
  parallelWhileScarce = 1;
  /** An endpoint that has failed for this long is disabled. */
  disableAfter = 5 * DAY;
  /** How long events are also signed with the replaced secret. */
  secretOverlap = DAY;
  /** How long the response to a test waits for the first attempt. */
  testWait = 4 * SECOND;
  /** Maximum number of endpoints of a workspace. */
  maxEndpoints = 50;
}

/** The delay before the next attempt in milliseconds, or undefined if there is none. */
export function nextDelay(
  policy: WebhookPolicy,
  attemptsMade: number,
  retryAfter: number | undefined,
  random: () => number = Math.random,
): number | undefined {
  const delay = policy.retryDelays[attemptsMade - 1];
  if (delay === undefined) return undefined;
  const spread = delay * (1 + policy.jitter * (2 * random() - 1));
  // Not earlier than the receiver requested, up to the maximum.
  return Math.round(Math.max(spread, Math.min(retryAfter ?? 0, policy.longestRetryAfter)));
}
