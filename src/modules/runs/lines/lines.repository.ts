import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { Medium } from '../call.entity.js';
import * as sql from './lines.sql.js';

/** What is known of an attempt that takes the line's call to the platform. */
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
  readonly state: 'line' | 'dialling' | 'placed';
  readonly handle: string | null;
  readonly endFailures: number;
}

/** The test of a connection that needs a line. */
export interface LineForTest {
  readonly claimId: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly medium: Medium;
  readonly protocol: string;
  readonly bills: boolean;
  /** The credential. */
  readonly line: string;
  readonly limit: number;
  readonly leaseMs: number;
}

/** An agent for which a line is free. */
export interface NextInLine {
  readonly agentId: string;
  readonly medium: Medium;
  readonly workspaceId: string;
}

/** How long a process has to end an abandoned call before another one tries, in milliseconds. */
const END_LEASE_MS = 30_000;
/** How many of them one sweep ends. */
const MAX_ABANDONED = 20;
/** Attempts to end a call, and the pause between them in milliseconds. */
export const MAX_END_FAILURES = 3;
const END_PAUSE_MS = 5_000;
/** How long calls wait while their agent gets no line, in milliseconds. */
export const MAX_WAIT_MS = 15 * 60_000;

/** SQL for the lines of platforms and the ledger of their calls. */
@Injectable()
export class LinesRepository {
  constructor(private readonly database: Database) {}

  /** Takes a line for the test of a connection, which dials at once. @returns whether one was free */
  async takeForTest(test: LineForTest): Promise<boolean> {
    const { claimId, agentId, workspaceId, medium, protocol, bills, line, limit, leaseMs } = test;
    const values = [claimId, agentId, workspaceId, medium, protocol, bills, line, limit, leaseMs];
    const [row] = await this.database.query<{ isTaken: boolean }>(sql.TAKE_FOR_TEST, values);
    return row!.isTaken;
  }

  /** Notes that the attempt dials, if the call may still be paid for. @returns undefined if it has lost its line */
  async dial(claimId: string): Promise<PaidAttempts | undefined> {
    const [row] = await this.database.query<PaidAttempts>(sql.DIAL, [claimId]);
    return row;
  }

  /** @param handle encrypted @returns false if the attempt has lost its line */
  async placed(claimId: string, handle: string, platformId: string | null): Promise<boolean> {
    return (await this.database.query(sql.PLACED, [claimId, handle, platformId])).length > 0;
  }

  async identified(claimId: string, platformId: string): Promise<void> {
    await this.database.query(sql.IDENTIFIED, [claimId, platformId]);
  }

  async paid(claimId: string, seconds: number): Promise<void> {
    await this.database.query(sql.PAID, [claimId, seconds]);
  }

  /** Frees the line. @returns the agent that gets it */
  async release(claimId: string): Promise<NextInLine | undefined> {
    const [next] = await this.database.query<NextInLine>(sql.RELEASE, [claimId]);
    return next;
  }

  /** @returns how often its end has failed */
  async endFailed(claimId: string): Promise<number> {
    const values = [claimId, MAX_END_FAILURES, END_PAUSE_MS];
    const [row] = await this.database.query<{ failures: number }>(sql.END_FAILED, values);
    return row?.failures ?? 0;
  }

  async renew(claimIds: readonly string[], leaseMs: number): Promise<void> {
    await this.database.query(sql.RENEW, [claimIds, leaseMs]);
  }

  /** Calls that this process must end now. */
  async takeAbandoned(): Promise<AbandonedCall[]> {
    return this.database.query(sql.TAKE_ABANDONED, [MAX_ABANDONED, END_LEASE_MS]);
  }

  /** Ends calls as `error` that got no line in time, and those whose earlier attempt could not be ended. */
  async endHopeless(): Promise<void> {
    await this.database.query(sql.END_BUSY, [MAX_WAIT_MS]);
    await this.database.query(sql.END_UNENDED, []);
    await this.database.query(sql.FORGET_WAITS, []);
    await this.database.query(sql.FORGET_TESTS, []);
  }

  /** Calls that the platform may still carry, because it could not be asked to end them. */
  async unended(): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(sql.COUNT_UNENDED, []);
    return row?.count ?? 0;
  }
}
