import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { VariablesRow } from '../../../libs/evaluation-definition/index.js';
import { type Attempt, type CallResult, type ProtocolName, wasCutOff } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import type { Medium } from '../runs/call.entity.js';
import { CALLS_DUE } from '../runs/runs.service.js';
import type { EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import type { AgentSnapshot, DerivedKind } from '../runs/run.entity.js';
import * as sql from './execution.sql.js';

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
  /** That of the protocol, and of its slot. */
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

/** Calls of an agent over a protocol that wait for a slot. */
export interface WaitingCalls {
  readonly protocol: ProtocolName;
  /** As many as their runs allow to start. */
  readonly calls: number;
}

/** Free slots of this process for calls of a medium. */
export interface FreeSlots {
  readonly medium: Medium;
  readonly count: number;
  /** How many of them are for workspaces that hold none. */
  readonly kept: number;
  /** Workspaces that hold one. */
  readonly holders: readonly string[];
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
  constructor(private readonly database: Database) {}

  /** Claims due calls of all agents for the free slots, within every limit (`claim_calls`). */
  async claim(slots: readonly FreeSlots[]): Promise<ClaimedCall[]> {
    const given = slots.map(({ medium, count, kept, holders }) => {
      const claims = Array.from({ length: count }, () => randomUUID());
      return { medium, claims, kept, holders };
    });
    return this.database.query(sql.CLAIM, [JSON.stringify(given), LEASE_MS]);
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
   * Requeues the call for another attempt after `delayMs`.
   * @param resultJson from `attemptResultJson`
   */
  async retry({ id, claimId }: ClaimedCall, attempt: Attempt, resultJson: string, delayMs: number): Promise<void> {
    const values = [id, claimId, JSON.stringify([attempt]), delayMs, resultJson, wasCutOff(attempt) ? 0 : 1];
    await this.database.query(sql.RETRY, values);
  }

  /**
   * Requeues the call without an attempt. It asks again after `delayMs`.
   * @param isBusy whether the platform had no capacity for it, for which the call waits from now on
   */
  async wait({ id, claimId }: ClaimedCall, delayMs: number, isBusy: boolean): Promise<void> {
    await this.database.query(sql.WAIT, [id, claimId, delayMs, isBusy]);
  }

  /**
   * Gives up the claim and requeues the call for another process, because this one shuts down.
   * @param startedAt ISO 8601 timestamp of the start of the interrupted attempt
   * @param resultJson what is known of it, from `attemptResultJson`
   */
  async release({ id, claimId }: ClaimedCall, startedAt: string, resultJson?: string): Promise<void> {
    const attempt: Attempt = { ...SHUT_DOWN, startedAt, endedAt: new Date().toISOString(), callId: claimId };
    await this.database.query(sql.RELEASE, [id, claimId, JSON.stringify([attempt]), resultJson ?? null, CALLS_DUE]);
  }

  /** Renews the leases of these calls. @returns the claims that are still valid */
  async renew(calls: readonly ClaimedCall[]): Promise<ReadonlySet<string>> {
    const values = [calls.map(({ id }) => id), calls.map(({ claimId }) => claimId), LEASE_MS];
    const rows = await this.database.query<{ claimId: string }>(sql.RENEW, values);
    return new Set(rows.map(({ claimId }) => claimId));
  }

  /** @returns for each run, given as often as calls of it have ended, whether it is over; true once */
  async areOver(runIds: readonly string[]): Promise<readonly boolean[]> {
    const rows = await this.database.query<{ id: string }>(sql.ARE_OVER, [[...new Set(runIds)]]);
    const over = new Set(rows.map(({ id }) => id));
    return runIds.map((id) => over.delete(id));
  }

  /**
   * Requeues the calls of dead processes, and ends those that have crashed too many.
   * @returns due calls that have waited for some seconds
   */
  async sweep(): Promise<readonly WaitingCalls[]> {
    await this.database.transaction(async () => {
      const [lock] = await this.database.query<{ taken: boolean }>(sql.TRY_SWEEP, []);
      if (!lock?.taken) return;
      await this.database.query(sql.EXPIRE_LEASES, [MAX_LEASE_EXPIRATIONS, ABANDONED, JSON.stringify(DIED)]);
    });
    // After the commit, so that the calls that were just requeued are found.
    return this.database.query(sql.WAITING, []);
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
