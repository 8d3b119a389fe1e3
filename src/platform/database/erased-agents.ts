/**
 * Condition that hides what belongs to an agent that is being erased: its rows stay stored until a job has deleted them in
 * batches (decision 129).
 * @param agentId column with the id of the agent; rows without an agent are not hidden
 */
export const notErased = (agentId: string): string =>
  `NOT EXISTS (SELECT FROM agents erased WHERE erased.id = ${agentId} AND erased.erased_at IS NOT NULL)`;
