import type { Recogniser, Transcription, TranscriptionRequest } from './recogniser.js';

/** Requests that count, the latest ones. */
const RECENT = 50;
/** Fewer requests say nothing. */
const LEAST = 10;
const HIGH = 0.5;

export interface FailedRequests {
  readonly failed: number;
  readonly requests: number;
}

/** A recogniser that reports when more than half of its recent requests have failed: once, until it works again. */
export class WatchedRecogniser implements Recogniser {
  private readonly recent: boolean[] = [];
  private isReported = false;

  constructor(
    private readonly recogniser: Recogniser,
    private readonly onUnreliable: (of: FailedRequests) => void,
  ) {}

  /** @throws what the recogniser throws */
  async transcribe(request: TranscriptionRequest): Promise<Transcription | null> {
    try {
      const result = await this.recogniser.transcribe(request);
      this.count(false);
      return result;
    } catch (error) {
      // What was aborted has not failed.
      if (!request.signal?.aborted) this.count(true);
      throw error;
    }
  }

  /** The latest requests. */
  get requests(): FailedRequests {
    return { failed: this.recent.filter(Boolean).length, requests: this.recent.length };
  }

  private count(isFailed: boolean): void {
    this.recent.push(isFailed);
    if (this.recent.length > RECENT) this.recent.shift();
    const { failed, requests } = this.requests;
    const isHigh = requests >= LEAST && failed > HIGH * requests;
    if (isHigh && !this.isReported) this.onUnreliable(this.requests);
    this.isReported = isHigh;
  }
}
