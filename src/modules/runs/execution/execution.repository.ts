import { Injectable } from '@nestjs/common';
import type { Attempt, CallResult } from '../../../../libs/simulation/index.js';
import { Database } from '../../../platform/database/database.js';
import { Queue } from '../../../platform/queue/queue.js';
import type { EvaluationSnapshot } from '../run-evaluation.entity.js';
import type { AgentSnapshot } from '../run.entity.js';
import * as sql from './execution.sql.js';
import { LANE, lanes } from './lane-job.js';

/** How long a process may keep a call without renewing its claim, in milliseconds. */
export const LEASE_MS = 20_000;
/** A call whose process has died so often is more likely the cause than the victim. */
const MAX_LOSSES = 5;
const LOST = {
  outcome: 'error',
  failureCode: 'internal',
  reason: `The process that carried the call out has died ${MAX_LOSSES} times.`,
} as const;

/** A call that this process may carry out now. */
export interface ClaimedCall {
  readonly id: string;
  /** Fencing token. */
  readonly claimId: string;
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly evaluationId: string;
}

/** What a call needs to know of its run. */
export interface CallPlan {
  readonly snapshot: EvaluationSnapshot;
  readonly agent: AgentSnapshot;
}

/** The state of calls that are carried out; each change is one statement, and only the holder of a claim can make it. */
@Injectable()
export class ExecutionRepository {
  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
  ) {}

  /**
   * Takes the next due call of an agent, unless it has as many as it may have.
   * @param previousRun run of which this process has just ended a call
   */
  async claim(
    agentId: string,
    claimId: string,
    previousRun: string | undefined,
  ): Promise<{ call: ClaimedCall | undefined; isPreviousOver: boolean }> {
    const values = [agentId, claimId, LEASE_MS, previousRun ?? null];
    const [row] = await this.database.query<ClaimedCall & { isPreviousOver: boolean }>(sql.CLAIM, values);
    const call = row && (row.id as string | null) !== null ? { ...row, claimId } : undefined;
    return { call, isPreviousOver: row?.isPreviousOver ?? false };
  }

  async plan(runId: string, evaluationId: string): Promise<CallPlan> {
    const [row] = await this.database.query<CallPlan>(sql.SNAPSHOT, [runId, evaluationId]);
    if (!row) throw new Error(`The plan of run ${runId} has no evaluation ${evaluationId}`);
    return row;
  }

  /** The attempts at a call before the present one. */
  async attempts(callId: string): Promise<readonly Attempt[]> {
    const [row] = await this.database.query<{ attempts: Attempt[] }>(sql.ATTEMPTS, [callId]);
    return row?.attempts ?? [];
  }

  /** @returns false when the call had been taken away, and nothing was written */
  async end(
    { id, claimId }: ClaimedCall,
    result: CallResult,
    latencies: readonly number[],
    attempt: Attempt,
  ): Promise<boolean> {
    const { outcome, score, reason } = result;
    const json = [JSON.stringify([attempt]), JSON.stringify(result)];
    const rows = await this.database.query(sql.END, [id, claimId, outcome, score, reason, latencies, ...json]);
    return rows.length > 0;
  }

  /** Puts the call back for another attempt, with somebody to carry it out then. */
  async tryAgain(call: ClaimedCall, attempt: Attempt, delayMs: number): Promise<void> {
    const { id, claimId, agentId } = call;
    await this.database.transaction(async () => {
      const values = [id, claimId, JSON.stringify([attempt]), delayMs];
      const [row] = await this.database.query<{ dueAt: Date }>(sql.TRY_AGAIN, values);
      if (!row) return;
      await this.queue.enqueue(LANE, { agentId, lane: 0 }, { runAt: row.dueAt, jobKey: `call:${id}` });
    });
  }

  /** Hands a call back that this process will not carry out, with somebody else to do so. */
  async release({ id, claimId, agentId }: ClaimedCall): Promise<void> {
    await this.database.transaction(async () => {
      const released = await this.database.query(sql.RELEASE, [id, claimId]);
      if (released.length > 0) await this.queue.enqueue(LANE, { agentId, lane: 0 }, { jobKey: `call:${id}` });
    });
  }

  /** Keeps the claims on these calls. @returns the calls that are still this process's */
  async renew(calls: readonly ClaimedCall[]): Promise<ReadonlySet<string>> {
    const values = [calls.map(({ id }) => id), calls.map(({ claimId }) => claimId), LEASE_MS];
    const rows = await this.database.query<{ id: string }>(sql.RENEW, values);
    return new Set(rows.map(({ id }) => id));
  }

  async isOver(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ isOver: boolean }>(sql.IS_OVER, [runId]);
    return row?.isOver ?? false;
  }

  /** Frees the calls of dead processes, and sees to it that every due call has somebody to carry it out. */
  async sweep(): Promise<void> {
    await this.database.transaction(async () => {
      const [lock] = await this.database.query<{ taken: boolean }>(sql.TRY_SWEEP, []);
      if (!lock?.taken) return;
      await this.database.query(sql.DROP_DEAD_CLAIMS, [MAX_LOSSES, JSON.stringify(LOST)]);
    });
    // What was freed is due from now on: in a statement of its own it is seen.
    const waiting = await this.database.query<{ agentId: string; lanes: number }>(sql.FIND_WAITING, []);
    for (const { agentId, lanes: count } of waiting) {
      // One by one: what holds no other lock cannot wait in a circle.
      for (const lane of lanes(agentId, count)) await this.queue.enqueueAll(LANE, [lane]);
    }
  }

  /** Runs of which every call has ended, but which have not. */
  async findOver(): Promise<string[]> {
    return (await this.database.query<{ id: string }>(sql.FIND_OVER, [])).map(({ id }) => id);
  }
}
