import { type CallExchange, EXCHANGE_LIMITS, type ExchangedRequest } from './call-exchange.js';
import type { Line, RequestRecord } from './transport.js';

interface Recorded {
  readonly request: RequestRecord;
  readonly turn: number;
  /** Call time minus clock time during this request: call time never stops while the agent acts. */
  readonly offset: number;
}

/** Records the requests of a call and converts their times. */
export class ExchangeRecorder {
  private readonly recorded: Recorded[] = [];
  private omittedRequests = 0;

  /** @param offset call time minus clock time, now */
  add(request: RequestRecord, turn: number, offset: number): void {
    if (this.recorded.length < EXCHANGE_LIMITS.requests) this.recorded.push({ request, turn, offset });
    else this.omittedRequests++;
  }

  /** Null for an agent in this process. */
  of({ identity }: Line): CallExchange | null {
    if (!identity) return null;
    let tokensLeft: number = EXCHANGE_LIMITS.allTokens;
    const requests = this.recorded.map(({ request, turn, offset }): ExchangedRequest => {
      const time = (moment: number | undefined) => (moment === undefined ? null : rounded(moment + offset));
      const tokens = request.tokensAt.slice(0, tokensLeft);
      tokensLeft -= tokens.length;
      return {
        turn,
        sentAtMs: time(request.sentAt),
        status: request.status ?? null,
        firstByteMs: time(request.firstByteAt),
        tokenTimesMs: tokens.map((moment) => rounded(moment + offset)),
        finishReason: request.finishReason ?? null,
        ...(request.unreadable !== undefined && { unreadable: request.unreadable }),
      };
    });
    return { ...identity, requests, omittedRequests: this.omittedRequests };
  }
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
