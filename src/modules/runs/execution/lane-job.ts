import { defineJob } from '../../../platform/queue/job.js';

/**
 * Carries out calls of an agent, one after the other, until there is none to carry out now. So many lanes of an agent
 * run at once as it may have calls at once.
 */
export const LANE = defineJob<{ readonly agentId: string; readonly lane: number }>({
  name: 'runs.lane',
  kind: 'calls',
});

/** At most so many lanes of an agent wait in the queue, whatever is asked for. */
export const MAX_LANES = 100;

export const laneKey = (agentId: string, lane: number): string => `lane:${agentId}:${lane}`;

/** The jobs for the first so many lanes of an agent. */
export const lanes = (agentId: string, count: number) =>
  Array.from({ length: Math.min(count, MAX_LANES) }, (_, lane) => ({
    payload: { agentId, lane },
    key: laneKey(agentId, lane),
  }));
