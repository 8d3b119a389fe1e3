import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

export interface DialUsage {
  readonly calls: number;
  readonly seconds: number;
}

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;

const USED = `SELECT calls, seconds FROM dial_usage WHERE workspace_id = $1 AND day = ${TODAY}`;

/** $2: seconds; $3: calls of a day; $4: seconds of a day. No row beyond them. */
const TAKE = `
  INSERT INTO dial_usage AS d (workspace_id, day, calls, seconds)
  SELECT $1, ${TODAY}, 1, $2::int WHERE $3::int > 0 AND $2::int <= $4::int
  ON CONFLICT (workspace_id) DO UPDATE SET day = excluded.day,
    calls = CASE WHEN d.day = excluded.day THEN d.calls ELSE 0 END + 1,
    seconds = CASE WHEN d.day = excluded.day THEN d.seconds ELSE 0 END + excluded.seconds
  WHERE d.day <> excluded.day OR d.calls < $3::int AND d.seconds + excluded.seconds <= $4::int
  RETURNING day::text`;

/** $2: day; $3: seconds that were not used. */
const GIVE_BACK = `
  UPDATE dial_usage SET seconds = greatest(0, seconds - $3) WHERE workspace_id = $1 AND day = $2::date`;

/** $2: milliseconds between two calls; $3: the most until the turn, null for any. No row beyond it. */
const NEXT = `
  INSERT INTO trunk_pace AS t (trunk, next_at) VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
  ON CONFLICT (trunk) DO UPDATE SET next_at = greatest(clock_timestamp(), t.next_at) + $2 * interval '1 millisecond'
  WHERE $3::int IS NULL OR t.next_at <= clock_timestamp() + $3 * interval '1 millisecond'
  RETURNING greatest(0, extract(epoch FROM next_at - clock_timestamp()) * 1000 - $2)::double precision AS "waitMs"`;

/** SQL for what calls to telephone numbers use. */
@Injectable()
export class DialLimitsRepository {
  constructor(private readonly database: Database) {}

  /** What a workspace has used today. */
  async used(workspaceId: string): Promise<DialUsage> {
    const [row] = await this.database.query<DialUsage>(USED, [workspaceId]);
    return row ?? { calls: 0, seconds: 0 };
  }

  /** Counts a call. @returns its day; undefined if the limits do not allow it */
  async take(workspaceId: string, seconds: number, limits: DialUsage): Promise<string | undefined> {
    const values = [workspaceId, seconds, limits.calls, limits.seconds];
    const [row] = await this.database.query<{ day: string }>(TAKE, values);
    return row?.day;
  }

  async giveBack(workspaceId: string, day: string, seconds: number): Promise<void> {
    await this.database.query(GIVE_BACK, [workspaceId, day, seconds]);
  }

  /** Takes the turn of a call over a trunk. @returns milliseconds until then; undefined if they are more than `mostMs` */
  async next(trunk: string, pauseMs: number, mostMs: number | null): Promise<number | undefined> {
    const [row] = await this.database.query<{ waitMs: number }>(NEXT, [trunk, pauseMs, mostMs]);
    return row?.waitMs;
  }
}
