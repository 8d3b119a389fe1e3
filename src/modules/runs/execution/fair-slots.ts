import { sharedSlots, type SlotJob } from '../slot-job.js';

/**
 * Shares the slots of a process for calls of one medium among workspaces. A call is never interrupted and may last an
 * hour, so a tenth of the slots, at least one, is kept for workspaces that hold none. One workspace may hold all others;
 * several get equal shares of them, and one that holds more gets none until enough of its calls have ended. Jobs without
 * a slot are parked: they give their place back to the queue and are resumed when there is room (decision 116).
 */
export class FairSlots {
  private readonly shared: number;
  /** Slots in use by workspace. */
  private readonly used = new Map<string, number>();
  private total = 0;
  /** Each of these workspaces uses a slot, so that `used` has all that hold or wait. */
  private readonly parked = new Map<string, Map<string, SlotJob>>();

  /** @param slots number of slots of this process */
  constructor(slots: number) {
    this.shared = sharedSlots(slots);
  }

  /** @returns whether the job may run; then it must call `release` */
  take(job: SlotJob): boolean {
    const workspace = workspaceOf(job);
    const used = this.usedBy(workspace);
    if (!this.hasRoom(used, this.total)) return false;
    this.used.set(workspace, used + 1);
    this.total++;
    return true;
  }

  /** Whether a job that runs may use its slot for another call. */
  mayContinue(job: SlotJob): boolean {
    return this.hasRoom(this.usedBy(workspaceOf(job)) - 1, this.total - 1);
  }

  /** Ends the use of a slot. @returns the parked jobs for which there is room now, to be enqueued */
  release(job: SlotJob): SlotJob[] {
    const workspace = workspaceOf(job);
    const used = this.usedBy(workspace) - 1;
    this.total--;
    if (used > 0) this.used.set(workspace, used);
    else this.used.delete(workspace);
    // All of them if none is in use: it no longer counts as waiting. Those without room are parked again.
    const resumed = used > 0 ? [] : this.unpark(workspace);
    return [...resumed, ...this.resumable(this.total + resumed.length)];
  }

  /** Remembers a job that could not run. @returns false if there is room again */
  park(job: SlotJob): boolean {
    const workspace = workspaceOf(job);
    if (this.hasRoom(this.usedBy(workspace), this.total)) return false;
    const parked = this.parked.get(workspace) ?? new Map<string, SlotJob>();
    this.parked.set(workspace, parked.set(keyOf(job), job));
    return true;
  }

  /** Number of parked jobs of the job's workspace. */
  parkedBeside(job: SlotJob): number {
    return this.parked.get(workspaceOf(job))?.size ?? 0;
  }

  private usedBy(workspace: string): number {
    return this.used.get(workspace) ?? 0;
  }

  /** @param used by the workspace @param total by all */
  private hasRoom(used: number, total: number): boolean {
    return used <= 0 || (total < this.shared && used < Math.ceil(this.shared / this.used.size));
  }

  /** One job after the other of the workspace that uses the fewest slots. @param total in use and resumed */
  private resumable(total: number): SlotJob[] {
    const resumed: SlotJob[] = [];
    const used = new Map(this.used);
    for (;;) {
      const waiting = [...this.parked.keys()].map((workspace) => ({ workspace, count: used.get(workspace)! }));
      const [next] = waiting.sort((a, b) => a.count - b.count);
      if (!next || !this.hasRoom(next.count, total + resumed.length)) return resumed;
      resumed.push(...this.unpark(next.workspace, 1));
      used.set(next.workspace, next.count + 1);
    }
  }

  /** As in the queue, low slot numbers come first. */
  private unpark(workspace: string, count = Infinity): SlotJob[] {
    const parked = this.parked.get(workspace);
    if (!parked) return [];
    const resumed = [...parked.values()].sort((a, b) => a.slot - b.slot).slice(0, count);
    for (const each of resumed) parked.delete(keyOf(each));
    if (parked.size === 0) this.parked.delete(workspace);
    return resumed;
  }
}

const keyOf = ({ agentId, slot }: SlotJob): string => `${agentId} ${slot}`;
const workspaceOf = ({ workspaceId, agentId }: SlotJob): string => workspaceId ?? agentId;
