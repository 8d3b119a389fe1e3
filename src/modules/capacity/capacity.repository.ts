import { Injectable } from '@nestjs/common';
import type { Medium } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import * as sql from './capacity.sql.js';

/** What is known of an attempt that makes the call. */
export interface PaidAttempts {
  /** Attempts at the call that the platform has answered. */
  readonly paidAttempts: number;
  readonly maxPaidAttempts: number;
}

/** A call of a process that died, or whose end failed. */
export interface AbandonedCall {
  readonly claimId: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly protocol: string;
  readonly bills: boolean;
  readonly state: 'reserved' | 'dialling' | 'placed';
  readonly handle: string | null;
  readonly endFailures: number;
}

/** The test of a connection that needs capacity. */
export interface TestOfConnection {
  readonly claimId: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly medium: Medium;
  readonly protocol: string;
  readonly bills: boolean;
  readonly credential: string;
  readonly capacity: number;
  readonly leaseMs: number;
}

/** How long a process has to end an abandoned call before another one tries, in milliseconds. */
const END_LEASE_MS = 30_000;
/** How many of them one sweep ends. */
const MAX_ABANDONED = 20;
/** Attempts to end a call, and the pause between them in milliseconds. */
export const MAX_END_FAILURES = 3;
const END_PAUSE_MS = 5_000;

/** Longer than runs are kept by default, and than platforms are asked for calls of the past. */
const OWN_DAYS = 40;

/** SQL for the capacity of platforms and the record of their calls. */
@Injectable()
export class CapacityRepository {
  constructor(private readonly database: Database) {}

  /** Notes what calls of the agent over the protocol use. */
  async store(agentId: string, protocol: string, credential: string, capacity: number): Promise<void> {
    await this.database.query(sql.STORE, [agentId, protocol, credential, capacity]);
  }

  /** Notes that they use no capacity. */
  async forget(agentId: string, protocol: string): Promise<void> {
    await this.database.query(sql.FORGET, [agentId, protocol]);
  }

  /** Reserves capacity for the test of a connection, which dials at once. @returns whether some was free */
  async reserve(test: TestOfConnection): Promise<boolean> {
    const { claimId, agentId, workspaceId, medium, protocol, bills, credential, capacity, leaseMs } = test;
    const values = [claimId, agentId, workspaceId, medium, protocol, bills, credential, capacity, leaseMs];
    const [row] = await this.database.query<{ isReserved: boolean }>(sql.RESERVE, values);
    return row!.isReserved;
  }

  /** Notes that the attempt dials, if the call may still be paid for. @returns undefined if it has lost its capacity */
  async dial(claimId: string): Promise<PaidAttempts | undefined> {
    const [row] = await this.database.query<PaidAttempts>(sql.DIAL, [claimId]);
    return row;
  }

  /**
   * @param handle encrypted
   * @param platformId in its records, and the same for `own_calls`
   * @param caller digits of the number that calls; null for that of the attempt
   * @returns false if the attempt has lost its capacity
   */
  async placed(
    claimId: string,
    handle: string,
    platformId: string | null,
    { ownKey = null, caller = null }: { readonly ownKey?: string | null; readonly caller?: string | null } = {},
  ): Promise<boolean> {
    return (await this.database.query(sql.PLACED, [claimId, handle, platformId, ownKey, caller])).length > 0;
  }

  /** @param ownKey of `own_calls` */
  async identified(claimId: string, platformId: string, ownKey: string): Promise<void> {
    await this.database.query(sql.IDENTIFIED, [claimId, platformId, ownKey]);
  }

  /** Which of these keys are of calls of this service. */
  async own(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ key: string }>(sql.OWN, [keys]);
    return new Set(rows.map(({ key }) => key));
  }

  /** Whether a call of this service had this number in that time, in Unix milliseconds. */
  async isOwnNumber(digits: string, from: number, until: number): Promise<boolean> {
    const [row] = await this.database.query<{ isOwn: boolean }>(sql.OWN_NUMBER, [
      digits,
      new Date(from),
      new Date(until),
    ]);
    return row!.isOwn;
  }

  async paid(claimId: string, seconds: number): Promise<void> {
    await this.database.query(sql.PAID, [claimId, seconds]);
  }

  /** Frees the capacity: the call has ended. */
  async release(claimId: string): Promise<void> {
    await this.database.query(sql.RELEASE, [claimId]);
  }

  /** @returns how often its end has failed */
  async endFailed(claimId: string): Promise<number> {
    const values = [claimId, MAX_END_FAILURES, END_PAUSE_MS];
    const [row] = await this.database.query<{ failures: number }>(sql.END_FAILED, values);
    return row?.failures ?? 0;
  }

  /** @returns a free number of these, which is the attempt's from now on; undefined if none is free */
  async leaseNumber(claimId: string, numbers: readonly string[]): Promise<string | undefined> {
    return this.database.transaction(async () => {
      await this.database.query(sql.LOCK_NUMBERS, []);
      const [row] = await this.database.query<{ number: string }>(sql.LEASE_NUMBER, [claimId, numbers]);
      return row?.number;
    });
  }

  async expectCall(claimId: string, ms: number): Promise<void> {
    await this.database.query(sql.EXPECT_CALL, [claimId, ms]);
  }

  async renew(claimIds: readonly string[], leaseMs: number): Promise<void> {
    await this.database.query(sql.RENEW, [claimIds, leaseMs]);
  }

  /** Calls that this process must end now. */
  async takeAbandoned(): Promise<AbandonedCall[]> {
    return this.database.query(sql.TAKE_ABANDONED, [MAX_ABANDONED, END_LEASE_MS]);
  }

  /** Deletes what belongs to no call and is over. */
  async forgetOver(): Promise<void> {
    await this.database.query(sql.FORGET_OVER, []);
    await this.database.query(sql.FORGET_OWN, [OWN_DAYS]);
  }

  /** Calls that the platform may still carry, because it could not be asked to end them. */
  async countNotEnded(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(sql.COUNT_NOT_ENDED, []);
    return row?.count ?? 0;
  }
}
