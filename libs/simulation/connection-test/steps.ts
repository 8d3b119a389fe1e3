import type { WireFinding } from '../voice/facts/facts.js';

/** The steps of protocols of text. */
export const TEXT_STEPS = ['resolved', 'connected', 'secured', 'accepted', 'answered'] as const;
export type TextStep = (typeof TEXT_STEPS)[number];

/** `skipped`: not reached, or not part of the protocol, such as TLS over http. */
export const STEP_STATUSES = ['passed', 'failed', 'skipped'] as const;

export interface ConnectionStep {
  /** One of the steps of its protocol. */
  readonly step: string;
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
  /** Deviations of the agent from its protocol; none over text. */
  readonly findings: readonly Omit<WireFinding, 'atMs'>[];
}

/** The same answer for every address that must not or cannot be reached: it tells nothing about private networks. */
export const UNREACHABLE = 'The host name does not lead to an address that may be called';

/** What was still awaited when the time of the test was over. */
export const TIMED_OUT: Readonly<Record<(typeof TEXT_STEPS)[number], string>> = {
  resolved: 'The host name was not resolved in time',
  connected: 'The connection was not established in time',
  secured: 'The TLS handshake was not complete in time',
  accepted: 'The agent did not respond in time',
  answered: 'The agent responded, but not with words in time',
};

export const skipped = (step: string, message: string): ConnectionStep => ({
  step,
  status: 'skipped',
  ms: null,
  message,
  said: null,
  cure: null,
});
