import type { ReportedCall } from './reported.js';

/** Maximum number of transcripts in a report; other calls are shown without. */
export const MAX_TRANSCRIPTS = { passed: 100, others: 300 } as const;
/** The same for earlier attempts. */
export const MAX_ATTEMPTS = 200;

/** Limits the number of transcripts, and thereby the size of a report. */
export class TranscriptBudget {
  private readonly left = { ...MAX_TRANSCRIPTS } as { passed: number; others: number };
  private leftAttempts = MAX_ATTEMPTS;
  private leftOutCalls = 0;

  /** Number of calls without their transcript. */
  get leftOut(): number {
    return this.leftOutCalls;
  }

  /** Whether the transcript of this call is included; counts it if so. */
  takes({ outcome, timeline }: Pick<ReportedCall, 'outcome' | 'timeline'>): boolean {
    if (timeline.length === 0) return true;
    const kind = outcome === 'passed' ? 'passed' : 'others';
    if (this.left[kind] === 0) {
      this.leftOutCalls++;
      return false;
    }
    this.left[kind]--;
    return true;
  }

  /** The same for the transcript of an earlier attempt. */
  takesAttempt(): boolean {
    return this.leftAttempts-- > 0;
  }
}
