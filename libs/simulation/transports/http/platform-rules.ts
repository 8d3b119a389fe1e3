import type { OtherSide } from '../../other-side/other-side.js';
import { failure, type Failure, type FailureCode } from '../../timeline/failure.js';

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

/** What words of a platform mean, and what to do about it. */
export type Meaning = readonly [pattern: RegExp, code: FailureCode, cure: string];

/** The refusals of a platform: what it means by its words, the first that fits, and by its statuses. */
export class Refusals {
  /** @param byStatus fixes for refusals by their status */
  constructor(
    private readonly meanings: readonly Meaning[],
    private readonly byStatus: Readonly<Record<number, string>>,
  ) {}

  meaningOf(said: string): Meaning | readonly [] {
    return this.meanings.find(([pattern]) => pattern.test(said)) ?? [];
  }

  /** A response of the platform's API that is none of the wanted ones. @param general what its status says in general */
  readonly refused: PlatformRules['refused'] = (platform, refusal, general) => {
    const { status, said } = refusal;
    const [, meant, cure = this.byStatus[status]] = this.meaningOf(said);
    const refused = this.byStatus[status] === undefined ? general : 'platform_refused';
    const code = status === 429 || status >= 500 ? general : (meant ?? refused);
    const what = cure === undefined ? `HTTP ${status}` : `HTTP ${status}, ${cure}`;
    return failure(code, platform.describe({ what, ...refusal }));
  };

  /** Advice for a connection test. @param otherwise where neither words nor status have one */
  cureOf({ status = 0, said = '' }: Failure, otherwise?: string): string | undefined {
    const cure = this.meaningOf(said)[2] ?? this.byStatus[status] ?? otherwise;
    return cure && sentence(cure);
  }
}

/** A WebSocket that a platform did not open; other failures stay as they are. @param cure of a refusal, which has the code `refused` */
export function unopened(platform: OtherSide, found: Failure, refused: FailureCode, cure: string): Failure {
  const { code, status, said } = found;
  if (code === 'http_refused') {
    return failure(refused, platform.describe({ what: `HTTP ${status}, ${cure}`, status, said }));
  }
  if (code !== 'agent_status') return found;
  const what = `HTTP ${status} in place of a WebSocket upgrade`;
  return failure('http_status', platform.describe({ what, status, said }));
}

export const sentence = (cure: string): string => `${cure[0]!.toUpperCase()}${cure.slice(1)}.`;
