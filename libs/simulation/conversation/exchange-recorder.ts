import { type CallExchange, EXCHANGE_LIMITS, type ExchangedRequest } from '../other-side/call-exchange.js';
import type { Line, RequestRecord } from './transport.js';

interface Recorded {
  readonly request: RequestRecord;
  readonly turn: number;
}

/** Records the requests of a call and converts their times. */
export class ExchangeRecorder {
  private readonly recorded: Recorded[] = [];
  private omittedRequests = 0;

  add(request: RequestRecord, turn: number): void {
    if (this.recorded.length < EXCHANGE_LIMITS.requests) this.recorded.push({ request, turn });
    else this.omittedRequests++;
  }

  /** Null for an agent in this process. @param callTime converts a clock time */
  of({ identity }: Line, callTime: (moment: number) => number): CallExchange | null {
    if (!identity) return null;
    let tokensLeft: number = EXCHANGE_LIMITS.allTokens;
    const requests = this.recorded.map(({ request, turn }): ExchangedRequest => {
      const time = (moment: number | undefined) => (moment === undefined ? null : rounded(callTime(moment)));
      const tokens = request.tokensAt.slice(0, tokensLeft);
      tokensLeft -= tokens.length;
      return {
        turn,
        sentAtMs: time(request.sentAt),
        status: request.status ?? null,
        firstByteMs: time(request.firstByteAt),
        tokenTimesMs: tokens.map((moment) => rounded(callTime(moment))),
        finishReason: request.finishReason ?? null,
        ...(request.unreadable !== undefined && { unreadable: request.unreadable }),
      };
    });
    return { ...identity, requests, omittedRequests: this.omittedRequests };
  }
}

const rounded = (ms: number): number => Math.round(ms * 10) / 10;
