import type { ReportedCall } from './reported.js';

/** How many calls a report tells in full; all others only by what they came to. */
export const MAX_TRANSCRIPTS = { passed: 100, others: 300 } as const;

/** Decides which transcripts a report has, so that its size stays bearable however large the run is. */
export class TranscriptBudget {
  private readonly left = { ...MAX_TRANSCRIPTS } as { passed: number; others: number };
  private leftOutCalls = 0;

  /** Calls that came to something and were refused. */
  get leftOut(): number {
    return this.leftOutCalls;
  }

  /** Whether there is room for this call's transcript, which is then taken. A call without one needs none. */
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
}
