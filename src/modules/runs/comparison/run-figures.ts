import type { LatencyMeasures } from '../../../../libs/statistics/index.js';
import type { RunStatus } from '../run.entity.js';

/** Results of the counted calls of a case. */
export interface CaseFigures {
  readonly caseKey: string;
  readonly counted: number;
  readonly passed: number;
  /** Mean score, 0 to 100; null if no call is counted. */
  readonly score: number | null;
  readonly latency: LatencyMeasures;
}

/** A run as one side of a comparison. */
export interface RunFigures {
  readonly id: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly agentVersion: string | null;
  readonly endedAt: string | null;
  readonly counted: number;
  readonly passed: number;
  readonly score: number | null;
  readonly latency: LatencyMeasures;
}
