import type { AgentDescription } from '../agents/agents.service.js';

/** What the runs of all calls that were recorded elsewhere have in common: there is no gate, and no call is placed. */
export const recordedRun = ({ id: agentId, workspaceId, name, provider, assistantId, type }: AgentDescription) => ({
  ...{ workspaceId, agentId, agentVersion: null, medium: 'voice' as const, isImported: true },
  ...{ minimumScore: null, minimumPassRate: null, allowedUncounted: 0, notWorseThan: null, baselineRunId: null },
  agentSnapshot: { name, provider, assistantId, type },
});
