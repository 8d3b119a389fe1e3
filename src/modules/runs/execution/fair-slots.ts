import { workspaceShare } from '../../../platform/workspace-share.js';
import type { SlotJob } from './slot-job.js';

/**
 * Shares the slots of a process for calls of one medium among workspaces: one holds at most three quarters of them, because a call is never
 * interrupted and may last an hour. Jobs beyond the share are parked: they give their slots back to the queue and are
 * resumed as soon as the workspace has room (decision 71).
 */
export class FairSlots {
  readonly share: number;
  /** Slots in use by workspace. */
  private readonly used = new Map<string, number>();
  private readonly parked = new Map<string, Map<string, SlotJob>>();

  /** @param slots number of slots of this process */
  constructor(slots: number) {
    this.share = workspaceShare(slots);
  }

  /** @returns whether the job may run; then it must call `release` */
  take(job: SlotJob): boolean {
    const workspace = workspaceOf(job);
    const used = this.used.get(workspace) ?? 0;
    if (used >= this.share) return false;
    this.used.set(workspace, used + 1);
    return true;
  }

  /** Ends the use of a slot. @returns the parked jobs for which there is room now, to be enqueued */
  release(job: SlotJob): SlotJob[] {
    const workspace = workspaceOf(job);
    const used = (this.used.get(workspace) ?? 1) - 1;
    if (used === 0) this.used.delete(workspace);
    else this.used.set(workspace, used);
    const parked = this.parked.get(workspace);
    if (!parked) return [];
    // Without a job in use no later release would resume the others. As in the queue, low slot numbers come first.
    const room = used === 0 ? parked.size : this.share - used;
    const resumed = [...parked.values()].sort((a, b) => a.slot - b.slot).slice(0, room);
    for (const each of resumed) parked.delete(keyOf(each));
    if (parked.size === 0) this.parked.delete(workspace);
    return resumed;
  }

  /** Remembers a job that could not run. @returns false if there is room again */
  park(job: SlotJob): boolean {
    const workspace = workspaceOf(job);
    if ((this.used.get(workspace) ?? 0) < this.share) return false;
    const parked = this.parked.get(workspace) ?? new Map<string, SlotJob>();
    this.parked.set(workspace, parked.set(keyOf(job), job));
    return true;
  }

  /** Number of parked jobs of the job's workspace. */
  parkedBeside(job: SlotJob): number {
    return this.parked.get(workspaceOf(job))?.size ?? 0;
  }
}

const keyOf = ({ agentId, slot }: SlotJob): string => `${agentId} ${slot}`;
const workspaceOf = ({ workspaceId, agentId }: SlotJob): string => workspaceId ?? agentId;
