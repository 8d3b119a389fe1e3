import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

// One statement, so that readers see a delta either as such or in its total. The lock admits one process at a time: two
// could wait for each other's totals.
const ROLL_UP = `
  WITH moved AS (
    DELETE FROM list_deltas WHERE (SELECT pg_try_advisory_xact_lock(hashtextextended('lists:roll-up', 0)))
    RETURNING list, owner_id, facet, delta)
  INSERT INTO list_totals AS t (list, owner_id, facet, total)
  SELECT list, owner_id, facet, sum(delta) FROM moved GROUP BY list, owner_id, facet
  ON CONFLICT (list, owner_id, facet) DO UPDATE SET total = t.total + excluded.total`;

/** The counter that totals of long lists are read from (decision 64). */
@Injectable()
export class ListCounter {
  constructor(private readonly database: Database) {}

  /** Moves the committed deltas of all lists to their totals. Blocks neither readers nor writers of the lists. */
  async rollUp(): Promise<void> {
    await this.database.query(ROLL_UP);
  }
}
