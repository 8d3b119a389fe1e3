import { FairSlots } from '../fair-slots.js';
import { MAX_SLOTS, type SlotJob } from '../../slot-job.js';

const PARKED_MS = 5_000;

interface Work {
  calls: number;
  readonly lastMs: number;
}

/** The slots of one process and the queue before them on a virtual clock: what `RunWorker` does with `FairSlots`. */
export class VirtualSlots {
  private readonly fair: FairSlots;
  private readonly work = new Map<string, Work>();
  private readonly calls: { readonly job: SlotJob; readonly endsAt: number }[] = [];
  private jobs: { readonly job: SlotJob; readonly runAt: number }[] = [];
  private now = 0;
  /** Calls that have ended, by workspace. */
  readonly ended: Record<string, number> = {};

  constructor(private readonly slots: number) {
    this.fair = new FairSlots(slots);
  }

  /** @param work `lastMs` is the duration of each call */
  start(workspaceId: string, work: Work): void {
    this.work.set(workspaceId, { ...work });
    for (let slot = 0; slot < Math.min(work.calls, MAX_SLOTS); slot++) {
      this.enqueue({ agentId: `agent of ${workspaceId}`, workspaceId, slot });
    }
  }

  /** Calls in progress. */
  running(workspaceId: string): number {
    return this.calls.filter(({ job }) => job.workspaceId === workspaceId).length;
  }

  runUntil(time: number): void {
    for (;;) {
      this.runDue();
      const next = Math.min(...[...this.calls.map(({ endsAt }) => endsAt), ...this.jobs.map(({ runAt }) => runAt)]);
      if (next > time) break;
      this.now = next;
      const over = this.calls.findIndex(({ endsAt }) => endsAt <= this.now);
      if (over >= 0) this.end(this.calls.splice(over, 1)[0]!.job);
    }
    this.now = time;
  }

  /** A job replaces one of the same slot. */
  private enqueue(job: SlotJob, runAt = this.now): void {
    const isOther = (other: SlotJob) => other.workspaceId !== job.workspaceId || other.slot !== job.slot;
    this.jobs = [...this.jobs.filter((queued) => isOther(queued.job)), { job, runAt }];
  }

  /** By priority, which is the number of the slot. */
  private runDue(): void {
    for (;;) {
      const due = this.jobs.filter(({ runAt }) => runAt <= this.now).sort((a, b) => a.job.slot - b.job.slot);
      const first = due[0];
      if (!first || this.calls.length >= this.slots) return;
      this.jobs.splice(this.jobs.indexOf(first), 1);
      this.run(first.job);
    }
  }

  private run(job: SlotJob): void {
    if (this.fair.take(job)) {
      if (!this.claim(job)) this.release(job);
      return;
    }
    this.enqueue(job, this.now + PARKED_MS);
    if (!this.fair.park(job)) this.enqueue(job);
  }

  private claim(job: SlotJob): boolean {
    const work = this.work.get(job.workspaceId!)!;
    if (work.calls === 0) return false;
    work.calls--;
    this.calls.push({ job, endsAt: this.now + work.lastMs });
    return true;
  }

  private end(job: SlotJob): void {
    const workspaceId = job.workspaceId!;
    this.ended[workspaceId] = (this.ended[workspaceId] ?? 0) + 1;
    if (!this.fair.mayContinue(job)) {
      this.release(job);
      this.enqueue(job);
    } else if (!this.claim(job)) this.release(job);
  }

  private release(job: SlotJob): void {
    for (const resumed of this.fair.release(job)) this.enqueue(resumed);
  }
}
