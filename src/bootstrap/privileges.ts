import { escapeIdentifier } from 'pg';
import type { DataSource } from 'typeorm';
import * as sql from './privileges.sql.js';

const GUIDE = 'docs/configuration.md, Privileges of the database role';
const QUEUE_SCHEMA = 'graphile_worker';
/** Tables without an entity. */
const OTHER_TABLES = ['migrations', 'list_totals', 'list_deltas'];

/** The database role may not do what the service needs; the message is one line for an administrator. */
export class MissingPrivilegeError extends Error {
  override readonly name = 'MissingPrivilegeError';
}

interface DatabaseRow {
  readonly role: string;
  readonly database: string;
  readonly schema: string;
  readonly canUseSchema: boolean;
  readonly canCreateTables: boolean;
  readonly canCreateSchemas: boolean;
  readonly hasQueue: boolean;
}

/** A missing privilege and the statement that grants it. */
interface Missing {
  readonly what: string;
  readonly grant: string;
}

/**
 * Checks that the role owns the tables, or can create them.
 * @param isPending whether there are migrations to run
 * @throws MissingPrivilegeError with every missing privilege and the statements that grant them
 */
export async function checkPrivileges(dataSource: DataSource, isPending: boolean): Promise<void> {
  const [database] = await dataSource.query<DatabaseRow[]>(sql.DATABASE_PRIVILEGES, [QUEUE_SCHEMA]);
  if (!database) return;
  const names = [...dataSource.entityMetadatas.map(({ tableName }) => tableName), ...OTHER_TABLES];
  const [foreign] = await dataSource.query<{ owner: string }[]>(sql.FOREIGN_TABLE, [names, QUEUE_SCHEMA]);
  const { role, database: name } = database;
  const where = `The role ${role} lacks privileges on the database ${name}; nothing was changed: `;
  if (foreign) {
    // Rights on the tables are not enough: migrations change them, and row-level security hides those of the queue.
    throw new MissingPrivilegeError(
      `${where}its tables belong to ${foreign.owner}, and the service needs the rights of their owner. ` +
        `Connect as ${foreign.owner} (DATABASE_URL), or grant that role to ${role} (${GUIDE})`,
    );
  }
  const missing = missingOnDatabase(database, isPending);
  if (missing.length === 0) return;
  throw new MissingPrivilegeError(
    `${where}${missing.map(({ what }) => what).join('; ')}. As the owner of the database run: ` +
      `${missing.map(({ grant }) => grant).join('; ')}; (${GUIDE})`,
  );
}

function missingOnDatabase(row: DatabaseRow, isPending: boolean): Missing[] {
  const [role, schema] = [escapeIdentifier(row.role), escapeIdentifier(row.schema)];
  const missing: Missing[] = [];
  if (!row.canUseSchema || (isPending && !row.canCreateTables)) {
    const privileges = isPending ? 'USAGE, CREATE' : 'USAGE';
    missing.push({
      what: `${isPending ? 'CREATE' : 'USAGE'} on the schema ${row.schema}`,
      grant: `GRANT ${privileges} ON SCHEMA ${schema} TO ${role}`,
    });
  }
  if (!row.hasQueue && !row.canCreateSchemas) {
    missing.push({
      what: `CREATE on the database, for the schema ${QUEUE_SCHEMA}`,
      grant: `GRANT CREATE ON DATABASE ${escapeIdentifier(row.database)} TO ${role}`,
    });
  }
  return missing;
}
