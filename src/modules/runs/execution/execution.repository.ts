import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { VariablesRow } from '../../../../libs/evaluation-definition/index.js';
import { type Attempt, type CallResult, type ProtocolName, wasCutOff } from '../../../../libs/simulation/index.js';
import { Database } from '../../../platform/database/database.js';
import { Queue } from '../../../platform/queue/queue.js';
import type { Medium } from '../call.entity.js';
import type { EvaluationSnapshot } from '../run-evaluation.entity.js';
import type { AgentSnapshot, DerivedKind } from '../run.entity.js';
import * as sql from './execution.sql.js';
import { SLOTS, slotJobs } from '../slot-job.js';

/** How long a claim is valid unless it is renewed, in milliseconds. */
export const LEASE_MS = 20_000;
/** How long calls wait while their agent gets no capacity, in milliseconds. */
const MAX_WAIT_MS = 15 * 60_000;
/** A call whose lease expires this often has probably crashed its processes. */
const MAX_LEASE_EXPIRATIONS = 5;
const ABANDONED = `The process that executed the call died ${MAX_LEASE_EXPIRATIONS} times.`;
const DIED = {
  outcome: 'error',
  failureCode: 'interrupted',
  reason: 'The process that executed the attempt died.',
} as const;
const SHUT_DOWN = { ...DIED, reason: 'The process that executed the attempt was shut down.' } as const;

/** A call that this process holds the claim on. */
export interface ClaimedCall {
  readonly id: string;
  /** Fencing token, and the id that the agent receives with this attempt. */
  readonly claimId: string;
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly evaluationId: string;
  /** Decided on when the run was started. */
  readonly protocol: ProtocolName;
  /** That of the protocol, and of the slot. */
  readonly medium: Medium;
  /** Whether the platform bills it. */
  readonly bills: boolean;
  /** Whose capacity it uses; null if it uses none. */
  readonly credential: string | null;
  /** Calls of the credential at once, as the claim knew it. */
  readonly capacity: number | null;
  /** Whether earlier attempts at the call have ended. */
  readonly isRepeated: boolean;
}

/** An agent with due calls of a protocol that have no slot job. */
export interface WaitingAgent {
  readonly id: string;
  readonly workspaceId: string;
  readonly protocol: ProtocolName;
  readonly medium: Medium;
  /** Number of slot jobs needed. */
  readonly slots: number;
}

/** A slot without a call. */
export interface FreeSlot {
  /** Run of the call that has just ended in it. */
  readonly previousRun: string | undefined;
}

export interface Claim {
  readonly call: ClaimedCall | undefined;
  /** Whether the slot's previous run is over; true for only one of the slots, which finishes the run. */
  readonly isPreviousRunOver: boolean;
}

/** An ended call with its result. */
export interface EndedCall {
  readonly call: ClaimedCall;
  /** An item of the list that `END` takes. */
  readonly json: string;
}

/** @throws RangeError for a result that is nested too deeply for JSON.stringify */
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

/** The parts of its run that a call needs. */
export interface CallPlan {
  readonly snapshot: EvaluationSnapshot;
  readonly agent: AgentSnapshot;
  /** Whether each of its calls has a row of variables. */
  readonly hasVariables: boolean;
  /** What the platform is asked for. */
  readonly agentVariables: VariablesRow;
  readonly assistantVersion: string | null;
  /** How its calls are judged again; null if the agent is called. */
  readonly derivedKind: DerivedKind | null;
}

export interface CallHistory {
  readonly attempts: readonly Attempt[];
  readonly isDerived: boolean;
  /** Whether the platform must not be called again for it. */
  readonly isPaidUp: boolean;
}

/** The state of running calls. Each change is one statement and requires the claim's fencing token. */
@Injectable()
export class ExecutionRepository {
  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
  ) {}

  /**
   * Claims a due call of the agent and medium for each slot, within the agent's concurrency limit and with the capacity that
   * calls need.
   * @returns a claim per slot, in the same order
   */
  async claim(agentId: string, medium: Medium, slots: readonly FreeSlot[]): Promise<readonly Claim[]> {
    const claims = slots.map(() => randomUUID());
    const previous = new Set(slots.flatMap(({ previousRun }) => previousRun ?? []));
    const values = [agentId, medium, claims, LEASE_MS, [...previous]];
    const rows = await this.database.query<Omit<ClaimedCall, 'agentId' | 'medium'>>(sql.CLAIM, values);
    const calls = new Map(rows.map((row) => [row.claimId, { ...row, agentId, medium }]));
    const over = new Set(rows.flatMap(({ claimId, runId }) => ((claimId as string | null) === null ? runId : [])));
    return slots.map(({ previousRun = '' }, index) => ({
      call: calls.get(claims[index]!),
      // `delete` is true once: a single slot finishes the run.
      isPreviousRunOver: over.delete(previousRun),
    }));
  }

  async plan(runId: string, evaluationId: string): Promise<CallPlan> {
    const [row] = await this.database.query<CallPlan>(sql.SNAPSHOT, [runId, evaluationId]);
    if (!row) throw new Error(`The plan of run ${runId} has no evaluation ${evaluationId}`);
    return row;
  }

  /** The row of variables of a call; null if its evaluation has none. */
  async variables(callId: string): Promise<VariablesRow | null> {
    const [row] = await this.database.query<{ variables: VariablesRow | null }>(sql.VARIABLES, [callId]);
    return row?.variables ?? null;
  }

  /** The previous attempts at a call. */
  async attempts(callId: string): Promise<readonly Attempt[]> {
    return (await this.history(callId)).attempts;
  }

  /** The previous attempts at a call, and whether it judges a recorded one again. */
  async history(callId: string): Promise<CallHistory> {
    const [row] = await this.database.query<CallHistory>(sql.ATTEMPTS, [callId]);
    return row ?? { attempts: [], isDerived: false, isPaidUp: false };
  }

  /** @returns for each call whether its claim was still valid; otherwise nothing was written for it */
  async end(calls: readonly EndedCall[]): Promise<readonly boolean[]> {
    const ids = calls.map(({ call }) => call.id);
    const claims = calls.map(({ call }) => call.claimId);
    const values = [`[${calls.map(({ json }) => json).join(',')}]`, ids, claims];
    const rows = await this.database.query<{ id: string; claimId: string }>(sql.END, values);
    const ended = new Map(rows.map(({ id, claimId }) => [id, claimId]));
    return calls.map(({ call }) => ended.get(call.id) === call.claimId);
  }

  /**
   * Requeues the call for another attempt after `delayMs`, with a slot job for that time.
   * @param resultJson from `attemptResultJson`
   */
  async retry(call: ClaimedCall, attempt: Attempt, resultJson: string, delayMs: number): Promise<void> {
    const { id, claimId, agentId, workspaceId, medium } = call;
    await this.database.transaction(async () => {
      const values = [id, claimId, JSON.stringify([attempt]), delayMs, resultJson, wasCutOff(attempt) ? 0 : 1];
      const [row] = await this.database.query<{ dueAt: Date }>(sql.RETRY, values);
      if (!row) return;
      const job = { agentId, workspaceId, slot: 0 };
      await this.queue.enqueue(SLOTS[medium], job, { runAt: row.dueAt, jobKey: `call:${id}` });
    });
  }

  /** Requeues the call without an attempt: the platform had no capacity for it. It asks again after `delayMs`. */
  async wait({ id, claimId, agentId, workspaceId, medium }: ClaimedCall, delayMs: number): Promise<void> {
    await this.database.transaction(async () => {
      const [row] = await this.database.query<{ dueAt: Date }>(sql.WAIT, [id, claimId, delayMs]);
      if (!row) return;
      const job = { agentId, workspaceId, slot: 0 };
      await this.queue.enqueue(SLOTS[medium], job, { runAt: row.dueAt, jobKey: `call:${id}` });
    });
  }

  /**
   * Gives up the claim and requeues the call because this process shuts down, with a slot job for another process.
   * @param startedAt ISO 8601 timestamp of the start of the interrupted attempt
   * @param resultJson what is known of it, from `attemptResultJson`
   */
  async release(call: ClaimedCall, startedAt: string, resultJson?: string): Promise<void> {
    const { id, claimId, agentId, workspaceId, medium } = call;
    const attempt: Attempt = { ...SHUT_DOWN, startedAt, endedAt: new Date().toISOString(), callId: claimId };
    await this.database.transaction(async () => {
      const values = [id, claimId, JSON.stringify([attempt]), resultJson ?? null];
      const released = await this.database.query(sql.RELEASE, values);
      if (released.length > 0)
        await this.queue.enqueue(SLOTS[medium], { agentId, workspaceId, slot: 0 }, { jobKey: `call:${id}` });
    });
  }

  /** Renews the leases of these calls. @returns the claims that are still valid */
  async renew(calls: readonly ClaimedCall[]): Promise<ReadonlySet<string>> {
    const values = [calls.map(({ id }) => id), calls.map(({ claimId }) => claimId), LEASE_MS];
    const rows = await this.database.query<{ claimId: string }>(sql.RENEW, values);
    return new Set(rows.map(({ claimId }) => claimId));
  }

  async isOver(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ isOver: boolean }>(sql.IS_OVER, [runId]);
    return row?.isOver ?? false;
  }

  /**
   * Requeues the calls of dead processes and enqueues slot jobs for due calls that have none.
   * @returns the agents of these calls
   */
  async sweep(): Promise<readonly WaitingAgent[]> {
    await this.database.transaction(async () => {
      const [lock] = await this.database.query<{ taken: boolean }>(sql.TRY_SWEEP, []);
      if (!lock?.taken) return;
      await this.database.query(sql.EXPIRE_LEASES, [MAX_LEASE_EXPIRATIONS, ABANDONED, JSON.stringify(DIED)]);
    });
    // After the commit, so that the calls that were just requeued are found.
    const waiting = await this.database.query<WaitingAgent>(sql.FIND_WAITING, []);
    for (const agent of waiting) {
      const { medium, slots } = agent;
      // One per statement: a statement that locks a single job cannot deadlock.
      for (const job of slotJobs(medium, agent, slots)) await this.queue.enqueueAll(SLOTS[medium], [job]);
    }
    return waiting;
  }

  /** Ends calls as `error` that got no capacity in time, and those whose earlier attempt could not be ended. */
  async endHopeless(): Promise<void> {
    await this.database.query(sql.END_BUSY, [MAX_WAIT_MS]);
    await this.database.query(sql.END_NOT_ENDED, []);
  }

  /** Open runs whose calls have all ended. */
  async findOver(): Promise<string[]> {
    return (await this.database.query<{ id: string }>(sql.FIND_OVER, [])).map(({ id }) => id);
  }
}
