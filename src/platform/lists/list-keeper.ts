import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

export interface LongList {
  readonly list: string;
  readonly scope: string;
}

/** Entries to a bucket, and buckets to a group: a million entries are some two hundred rows to sum up. */
export interface ListSizes {
  /** The newest entries, which are counted for each page: what is done to them soon after they came is not noted. */
  readonly newest: number;
  readonly bucket: number;
  readonly group: number;
  /** Entries that one statement counts at most. */
  readonly chunk: number;
}
export const LIST_SIZES: ListSizes = { newest: 32, bucket: 256, group: 64, chunk: 65_536 };

/** How long writers that began before are waited for, in milliseconds. */
const LONGEST_WAIT_MS = 5_000;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;

const FOLD = 'SELECT list_fold($1, $2, $3)';
// As text: only the database knows all of its times.
const OPEN = 'SELECT at::text, id FROM list_open($1, $2, $3)';
// A number of its own: a snapshot's upper end leaves out transactions that are under way.
const NOW = 'SELECT pg_current_xact_id()::text AS number';
const IS_PAST = `SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 AS "isPast"`;
const SEAL = 'SELECT list_seal($1, $2, $3::text::timestamptz, $4, $5, $6) AS "hasMore"';
const GROUP = 'SELECT list_group($1, $2, $3)';

/** Counts up lists in the database, while others write to them (decision 40). Every step may be the last one. */
@Injectable()
export class ListKeeper {
  constructor(private readonly database: Database) {}

  /** Not to be called in a transaction: writers must see each step. */
  async keep(list: LongList, signal: AbortSignal, sizes: ListSizes = LIST_SIZES): Promise<void> {
    const { newest, bucket, chunk, group } = sizes;
    const key = [list.list, list.scope];
    await this.database.query(FOLD, [...key, bucket]);
    const [until] = await this.database.query<{ at: string | null; id: string | null }>(OPEN, [...key, newest]);
    if (!until || until.at === null || !(await this.waitForWriters(signal))) return;
    for (let hasMore = true; hasMore && !signal.aborted;) {
      const [sealed] = await this.database.query<{ hasMore: boolean }>(SEAL, [
        ...key,
        until.at,
        until.id,
        bucket,
        chunk,
      ]);
      hasMore = sealed?.hasMore === true;
    }
    await this.database.query(GROUP, [...key, group]);
  }

  /** @returns whether all transactions that were under way have ended; if not, the next attempt may find them gone */
  private async waitForWriters(signal: AbortSignal): Promise<boolean> {
    const [now] = await this.database.query<{ number: string }>(NOW, []);
    const end = performance.now() + LONGEST_WAIT_MS;
    for (let wait = FIRST_PAUSE_MS; !signal.aborted && performance.now() < end; wait *= 2) {
      const [row] = await this.database.query<{ isPast: boolean }>(IS_PAST, [now?.number]);
      if (row?.isPast) return true;
      await pause(Math.min(wait, LONGEST_PAUSE_MS));
    }
    return false;
  }
}
