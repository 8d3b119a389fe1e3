import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

const LOCK_TABLE = 'LOCK TABLE workspaces IN SHARE ROW EXCLUSIVE MODE';

/** SQL for workspaces. */
@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  /** Blocks transactions that create or change workspaces until this one ends. */
  async lockTable(): Promise<void> {
    await this.database.query(LOCK_TABLE);
  }
}
