import { Injectable } from '@nestjs/common';
import type { Reports } from '../../../libs/simulation/index.js';
import { Database } from '../../platform/database/database.js';
import type { Report } from './reporting-attempt.entity.js';

/** A claimed call. */
export interface StartedAttempt {
  readonly claimId: string;
  readonly id: string;
  readonly workspaceId: string;
}

export interface LockedAttempt {
  /** Null if no more are accepted. */
  readonly reports: readonly Report[] | null;
  /** When it started, and now, on the clock of the database. */
  readonly startedMs: number;
  readonly nowMs: number;
}

type Taken = Pick<LockedAttempt, 'reports'> & { readonly refusal: string | null };

const ms = (time: string) => `extract(epoch FROM ${time})::double precision * 1000`;

const START = `
  INSERT INTO reporting_attempts (id, call_id, workspace_id, started_at, reports)
  VALUES ($1, $2, $3, clock_timestamp(), '[]')`;

/** $1: the attempt; $2: its workspace. One report of an attempt at a time, and none while they are taken. */
const LOCK = `
  SELECT CASE WHEN c.claim_id = a.id THEN a.reports END AS reports, ${ms('a.started_at')} AS "startedMs",
         ${ms('clock_timestamp()')} AS "nowMs"
    FROM reporting_attempts a JOIN calls c ON c.id = a.call_id
   WHERE a.id = $1 AND a.workspace_id = $2 FOR NO KEY UPDATE OF a`;

const STORE = 'UPDATE reporting_attempts SET reports = $2::jsonb WHERE id = $1';

const TAKE = `
  WITH taken AS MATERIALIZED (SELECT id, reports FROM reporting_attempts WHERE id = $1 FOR NO KEY UPDATE)
  UPDATE reporting_attempts a SET reports = NULL FROM taken t WHERE a.id = t.id RETURNING t.reports, a.refusal`;

/**
 * $1: the attempt, if it is known; $2: workspace; $3: why. The report of a call that is not known may be of any in progress.
 * Once the reports are taken, nothing is noted.
 */
const REFUSE = `
  UPDATE reporting_attempts SET refusal = $3
   WHERE workspace_id = $2 AND reports IS NOT NULL AND refusal IS NULL
     AND (id = $1 OR NOT EXISTS (SELECT FROM reporting_attempts WHERE id = $1 AND workspace_id = $2))`;

const NOW = `SELECT ${ms('clock_timestamp()')} AS "nowMs"`;
const CLOCK_SAMPLES = 5;

/** Those of attempts that were broken off. */
const FORGET = `
  UPDATE reporting_attempts a SET reports = NULL FROM calls c
   WHERE a.reports IS NOT NULL AND c.id = a.call_id AND c.claim_id IS DISTINCT FROM a.id`;

/** SQL for reported tool calls. */
@Injectable()
export class ToolCallsRepository {
  constructor(private readonly database: Database) {}

  async start({ claimId, id, workspaceId }: StartedAttempt): Promise<void> {
    await this.database.query(START, [claimId, id, workspaceId]);
  }

  /** Locks an attempt of the workspace until the transaction ends; undefined if there is none. */
  async lock(attemptId: string, workspaceId: string): Promise<LockedAttempt | undefined> {
    return (await this.database.query<LockedAttempt>(LOCK, [attemptId, workspaceId]))[0];
  }

  async refuse(attemptId: string | null, workspaceId: string, why: string): Promise<void> {
    await this.database.query(REFUSE, [attemptId, workspaceId, why]);
  }

  async store(attemptId: string, reports: readonly Report[]): Promise<void> {
    await this.database.query(STORE, [attemptId, JSON.stringify(reports)]);
  }

  /** The reports of an attempt, which accepts no more. */
  async take(attemptId: string): Promise<Reports> {
    const [row] = await this.database.query<Taken>(TAKE, [attemptId]);
    const { reports, refusal = null } = row ?? {};
    if (!reports) return { calls: [], refusal };
    const aheadMs = reports.length > 0 ? await this.aheadMs() : 0;
    // Times are truncated to milliseconds.
    const ago = (at: number) => performance.now() + aheadMs - at - 0.5;
    return { calls: reports.map(({ id: _, at, ...report }) => ({ ...report, agoMs: ago(at) })), refusal };
  }

  /** By how much the clock of the database is ahead of `performance`, by the fastest of some requests. */
  private async aheadMs(): Promise<number> {
    let best = { tookMs: Infinity, aheadMs: 0 };
    for (let sample = 0; sample < CLOCK_SAMPLES; sample++) {
      const asked = performance.now();
      const [row] = await this.database.query<Pick<LockedAttempt, 'nowMs'>>(NOW, []);
      const tookMs = performance.now() - asked;
      if (tookMs < best.tookMs) best = { tookMs, aheadMs: row!.nowMs - asked - tookMs / 2 };
    }
    return best.aheadMs;
  }

  async forget(): Promise<void> {
    await this.database.query(FORGET, []);
  }
}
