import { randomUUID } from 'node:crypto';
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

/** Somebody who can carry out a call now. */
export interface FreeLane {
  /** Run of the call that it has just ended. */
  readonly previousRun: string | undefined;
}

export interface Claim {
  readonly call: ClaimedCall | undefined;
  readonly isPreviousOver: boolean;
}

/** A call with all that it came to. */
export interface EndedCall {
  readonly call: ClaimedCall;
  /** As `calls_end` takes it. */
  readonly json: string;
}

/** @throws RangeError for a result that is nested more deeply than can be written */
export function endedCall(
  call: ClaimedCall,
  result: CallResult,
  latencies: readonly number[],
  attempt: Attempt,
): EndedCall {
  const { id, claimId } = call;
  const { outcome, score, reason } = result;
  return { call, json: JSON.stringify({ id, claimId, outcome, score, reason, latencies, attempt: [attempt], result }) };
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
   * Takes as many due calls of an agent as there are lanes, unless it has as many as it may have.
   * @returns for each lane its call, if there is one, and whether the run of its previous call is over and is its to end
   */
  async claim(agentId: string, lanes: readonly FreeLane[]): Promise<readonly Claim[]> {
    const claims = lanes.map(() => randomUUID());
    const previous = new Set(lanes.flatMap(({ previousRun }) => previousRun ?? []));
    const values = [agentId, claims, LEASE_MS, [...previous]];
    const rows = await this.database.query<Omit<ClaimedCall, 'agentId'>>(sql.CLAIM, values);
    const calls = new Map(rows.map((row) => [row.claimId, { ...row, agentId }]));
    const over = new Set(rows.flatMap(({ claimId, runId }) => ((claimId as string | null) === null ? runId : [])));
    return lanes.map(({ previousRun = '' }, index) => ({
      call: calls.get(claims[index]!),
      // One of them is told: it ends the run.
      isPreviousOver: over.delete(previousRun),
    }));
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

  /** @returns for each whether it was this process's; nothing was written of one that had been taken away */
  async end(calls: readonly EndedCall[]): Promise<readonly boolean[]> {
    const ids = calls.map(({ call }) => call.id);
    const claims = calls.map(({ call }) => call.claimId);
    const values = [`[${calls.map(({ json }) => json).join(',')}]`, ids, claims];
    const rows = await this.database.query<{ id: string; claimId: string }>(sql.END, values);
    const ended = new Map(rows.map(({ id, claimId }) => [id, claimId]));
    return calls.map(({ call }) => ended.get(call.id) === call.claimId);
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

  /** Keeps the claims on these calls. @returns the claims that are still this process's */
  async renew(calls: readonly ClaimedCall[]): Promise<ReadonlySet<string>> {
    const values = [calls.map(({ id }) => id), calls.map(({ claimId }) => claimId), LEASE_MS];
    const rows = await this.database.query<{ claimId: string }>(sql.RENEW, values);
    return new Set(rows.map(({ claimId }) => claimId));
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
