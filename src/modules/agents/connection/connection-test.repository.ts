import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';

/** The period of the limit, in seconds. */
const PERIOD_SECONDS = 60;

// The clock, not the start of the transaction: that may have waited for the lock.
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('connection-test:' || $1, 0))`;

const FORGET = `
  DELETE FROM connection_tests
   WHERE workspace_id = $1 AND greatest(started_at + $2 * interval '1 second', running_until) < clock_timestamp()`;

/** The tests of the last period, and how long the limit and the running test of the agent last; $3: agent. */
const RECENT = `
  SELECT count(*) FILTER (WHERE started_at + $2 * interval '1 second' > clock_timestamp())::int AS started,
         extract(epoch FROM min(started_at) + $2 * interval '1 second' - clock_timestamp())::float8 AS "limitedFor",
         extract(epoch FROM max(running_until) FILTER (WHERE agent_id = $3) - clock_timestamp())::float8 AS "runningFor"
    FROM connection_tests WHERE workspace_id = $1`;

const START = `
  INSERT INTO connection_tests (id, workspace_id, agent_id, started_at, running_until)
  VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')`;

const END = 'UPDATE connection_tests SET running_until = started_at WHERE id = $1';

/** Why a test must not start, and when it may. */
export interface RefusedTest {
  readonly reason: 'running' | 'limit' | 'capacity' | 'numbers' | 'pace';
  readonly retryAfterSeconds: number;
}

/** SQL for the limits on tests of connections, which hold across all processes. */
@Injectable()
export class ConnectionTestRepository {
  constructor(private readonly database: Database) {}

  /**
   * Starts a test, unless the agent has a running one or the workspace has started as many as it may.
   * @param timeoutMs after which it no longer counts as running if its process has died
   * @returns its id
   */
  start(workspaceId: string, agentId: string, perMinute: number, timeoutMs: number): Promise<string | RefusedTest> {
    return this.database.transaction(async () => {
      await this.database.query(LOCK, [workspaceId]);
      await this.database.query(FORGET, [workspaceId, PERIOD_SECONDS]);
      const [recent] = await this.database.query<{
        started: number;
        limitedFor: number | null;
        runningFor: number | null;
      }>(RECENT, [workspaceId, PERIOD_SECONDS, agentId]);
      const { started = 0, limitedFor, runningFor } = recent ?? {};
      const seconds = (time: number | null | undefined) => Math.max(1, Math.ceil(time ?? 1));
      if ((runningFor ?? 0) > 0) return { reason: 'running', retryAfterSeconds: seconds(runningFor) };
      if (started >= perMinute) return { reason: 'limit', retryAfterSeconds: seconds(limitedFor) };
      const id = randomUUID();
      await this.database.query(START, [id, workspaceId, agentId, timeoutMs]);
      return id;
    });
  }

  async end(id: string): Promise<void> {
    await this.database.query(END, [id]);
  }
}
