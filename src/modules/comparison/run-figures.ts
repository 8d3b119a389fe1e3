import type { LatencyClock, ProtocolName } from '../../../libs/simulation/index.js';
import type { VariablesRow } from '../../../libs/evaluation-definition/index.js';
import type { LatencyMeasures } from '../../../libs/statistics/index.js';
import type { RunStatus } from '../runs/run.entity.js';

/** Latencies with the clock that they were measured on. */
export interface ComparedLatency extends LatencyMeasures {
  /** Null if the protocol of the calls is not known; missing in figures that an earlier version stored. */
  readonly clock?: LatencyClock | null;
}

/** Results of the counted calls of a case. */
export interface CaseFigures {
  readonly caseKey: string;
  readonly counted: number;
  readonly passed: number;
  /** Mean score, 0 to 100; null if no call is counted. */
  readonly score: number | null;
  readonly latency: ComparedLatency;
}

/** A run as one side of a comparison. */
export interface RunFigures {
  readonly id: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly agentVersion: string | null;
  /** Null if it is not known; missing in figures that an earlier version stored. */
  readonly protocol?: ProtocolName | null;
  /** As the run gave them to the platform of the agent; both missing in figures that an earlier version stored. */
  readonly agentVariables?: VariablesRow;
  readonly assistantVersion?: string | null;
  readonly endedAt: string | null;
  readonly counted: number;
  readonly passed: number;
  readonly score: number | null;
  readonly latency: ComparedLatency;
}
