import type { OtherSide } from '../../other-side/other-side.js';
import type { Failure, FailureCode } from '../../timeline/failure.js';

/** A response of a platform that is none of the wanted ones. */
export interface Refusal {
  readonly status: number;
  readonly said: string;
  readonly retryAfterMs: number | undefined;
}

export interface PlatformRules {
  /** Hosts of the vendor: without TLS they get no key. */
  readonly vendorHost: RegExp;
  /** The headers that carry the key. */
  readonly authorization: (apiKey: string) => Readonly<Record<string, string>>;
  /** @param byStatus what the status says in general */
  readonly refused: (platform: OtherSide, refusal: Refusal, byStatus: FailureCode) => Failure;
}
