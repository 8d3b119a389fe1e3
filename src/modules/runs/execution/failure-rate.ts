/** The latest requests that count. */
const RECENT = 20;
/** Fewer say nothing about a server. */
const MIN_REQUESTS = 10;
const MAX_SHARE = 0.5;

/** How many of the latest requests to a server failed. */
export class FailureRate {
  private recent: boolean[] = [];
  private isHigh = false;

  /** @returns the figure when more than half of the latest requests have failed, once until it was lower again */
  add(hasFailed: boolean): { readonly failed: number; readonly requests: number } | undefined {
    this.recent = [...this.recent, hasFailed].slice(-RECENT);
    const requests = this.recent.length;
    const failed = this.recent.filter(Boolean).length;
    const wasHigh = this.isHigh;
    this.isHigh = requests >= MIN_REQUESTS && failed > MAX_SHARE * requests;
    return this.isHigh && !wasHigh ? { failed, requests } : undefined;
  }
}
