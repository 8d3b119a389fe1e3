import { defineJob } from '../../../platform/queue/job.js';

/**
 * Carries out calls of an agent, one after the other, until there is none to carry out now. So many lanes of an agent
 * run at once as it may have calls at once. The first lanes of all agents come before the second ones, and so on (the
 * job's priority): many lanes of one agent keep nobody else's only one waiting.
 */
export const LANE = defineJob<{ readonly agentId: string; readonly lane: number }>({
  name: 'runs.slot',
  kind: 'calls',
});

/** At most so many lanes of an agent, or of one of its runs, wait in the queue, whatever is asked for. */
export const MAX_LANES = 100;

/** @param owner the agent, or the run that the lane begins with */
export const laneKey = (owner: string, lane: number): string => `lane:${owner}:${lane}`;

/**
 * The jobs for the first so many lanes of an agent.
 * @param owner a run that starts has keys of its own: with those of lanes that run already, its transaction and the
 *   queue's, which ends many of these at once, could wait for each other
 */
export const lanes = (agentId: string, count: number, owner = agentId) =>
  Array.from({ length: Math.min(count, MAX_LANES) }, (_, lane) => ({
    payload: { agentId, lane },
    key: laneKey(owner, lane),
    priority: lane,
  }));
