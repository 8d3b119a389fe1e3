import { defineJob, type Job } from '../../platform/queue/job.js';
import type { Medium } from './call.entity.js';

export interface SlotJob {
  readonly agentId: string;
  /** Absent in jobs that an earlier version enqueued. */
  readonly workspaceId?: string;
  readonly slot: number;
}

/**
 * Runs calls of an agent in one of its concurrency slots, one call after the other, until none is due. The priority of
 * the job is the number of the slot: the first slots of all agents come before the second ones, so that an agent with
 * many slots does not delay the others. Voice calls have slots of their own (decision 105).
 */
export const SLOTS: Readonly<Record<Medium, Job<SlotJob>>> = {
  text: defineJob({ name: 'runs.slot', kind: 'calls' }),
  voice: defineJob({ name: 'runs.voice-slot', kind: 'voice-calls' }),
};

/** Maximum number of queued slot jobs of an agent or run, regardless of the requested concurrency. */
export const MAX_SLOTS = 100;

/** What the keys of jobs begin with: keys are unique among all jobs. */
const KEYS: Readonly<Record<Medium, string>> = { text: 'slot', voice: 'voice-slot' };

/** @param owner id of the agent or, for the slots that a new run enqueues, of the run */
export const slotKey = (medium: Medium, owner: string, slot: number): string => `${KEYS[medium]}:${owner}:${slot}`;

/**
 * The jobs for the first `count` slots of an agent.
 * @param owner a new run uses its own keys: with the keys of running slots, its transaction could deadlock with that of
 *   the queue, which completes many jobs at once
 */
export const slotJobs = (
  medium: Medium,
  { id: agentId, workspaceId }: { readonly id: string; readonly workspaceId: string },
  count: number,
  owner = agentId,
) =>
  Array.from({ length: Math.min(count, MAX_SLOTS) }, (_, slot) => ({
    payload: { agentId, workspaceId, slot },
    key: slotKey(medium, owner, slot),
    priority: slot,
  }));

/** How many of the slots of a process the workspaces that hold some share; the others are for those that hold none. */
export const sharedSlots = (slots: number): number => slots - Math.max(1, Math.floor(slots / 10));

/** How many calls of one workspace a process executes while no other one has any. */
export const slotsOfOne = (slots: number): number => Math.max(1, sharedSlots(slots));
