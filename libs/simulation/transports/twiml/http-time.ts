import { CallFailure } from '../../timeline/failure.js';

/** What a platform does for an agent before the stream; over it the call fails with `timeout`. */
export const PRELUDE_LIMITS = {
  /** One request; Twilio waits as long for TwiML. */
  requestMs: 15_000,
  /** All requests together. */
  httpMs: 60_000,
  /** Files of `<Play>`; each address is fetched once. */
  plays: 10,
  redirects: 10,
  /** What the verbs themselves take. */
  verbsMs: 60_000,
} as const;

/** The time that the requests of one call take together. */
export class HttpTime {
  private spentMs = 0;

  /** @param now monotonic time in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Makes a request. @param request takes the milliseconds that it may last
   * @throws CallFailure if all the time was spent, whatever the request does then
   */
  async spend<T>(request: (timeoutMs: number) => Promise<T>): Promise<T> {
    const startedAt = this.now();
    try {
      return await request(Math.min(PRELUDE_LIMITS.requestMs, this.left()));
    } finally {
      this.spentMs += this.now() - startedAt;
      this.left();
    }
  }

  private left(): number {
    const left = PRELUDE_LIMITS.httpMs - this.spentMs;
    if (left > 0) return left;
    const seconds = PRELUDE_LIMITS.httpMs / 1_000;
    throw new CallFailure('timeout', `its requests before the stream took ${seconds} s together`);
  }
}
