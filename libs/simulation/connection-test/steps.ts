/** What a test of a connection must reach, in this order. */
export const CONNECTION_STEPS = ['resolved', 'connected', 'secured', 'accepted', 'answered'] as const;
export type ConnectionStepName = (typeof CONNECTION_STEPS)[number];

/** `skipped`: not reached, or not part of the protocol, such as TLS over http. */
export const STEP_STATUSES = ['passed', 'failed', 'skipped'] as const;

export interface ConnectionStep {
  readonly step: ConnectionStepName;
  readonly status: (typeof STEP_STATUSES)[number];
  /** Duration of this step in milliseconds; null if it was skipped. */
  readonly ms: number | null;
  /** What happened, in one sentence. */
  readonly message: string;
  /** What the other side sent: its first words, or the beginning of what was not understood; null if nothing. */
  readonly said: string | null;
  /** What to do about a failure; null otherwise. */
  readonly cure: string | null;
}

export interface ConnectionTestResult {
  /** Whether no step failed. */
  readonly ok: boolean;
  /** UUID that the agent received, as in a call. */
  readonly callId: string;
  readonly steps: readonly ConnectionStep[];
}
