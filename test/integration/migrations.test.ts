import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { createDataSource } from '../../src/bootstrap/data-source.js';
import { migrate } from '../../src/bootstrap/migrate.js';
import { schemaDrift } from '../../src/bootstrap/schema-drift.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** The schema as text: columns, indexes, constraints, triggers and functions. */
const SCHEMA = `
  SELECT 'column' AS kind, table_name || '.' || column_name AS name,
         concat_ws(' ', data_type, datetime_precision, is_nullable, column_default) AS definition
    FROM information_schema.columns WHERE table_schema = 'public'
  UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint
             WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT 'trigger', tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'function', proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  ORDER BY 1, 2, 3`;

describe('migrations', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const more: DataSource[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = await createDataSource(database.url, 3).initialize();
  });
  afterEach(async () => {
    for (const each of [dataSource, ...more.splice(0)]) await each.destroy();
    await database.drop();
  });

  /** The migrations of the service, and one more. */
  const withMigration = (migration: new () => MigrationInterface) => {
    const known = dataSource.migrations.map(({ constructor }) => constructor as new () => MigrationInterface);
    return new DataSource({ ...dataSource.options, migrations: [...known, migration] });
  };
  const schema = () => dataSource.query<{ kind: string; name: string; definition: string }[]>(SCHEMA);
  const revertAll = async () => {
    for (const _ of dataSource.migrations) await dataSource.undoLastMigration({ transaction: 'each' });
  };

  // First, because pg warns only once in a process.
  it('are compared without two queries at a time on one connection, which pg warns of', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    await schemaDrift(dataSource);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('agree with the entities', async () => {
    expect(await schemaDrift(dataSource)).toEqual([]);
  });

  it('are reported if they differ from the entities', async () => {
    await dataSource.query('ALTER TABLE agents ALTER COLUMN assistant_id DROP NOT NULL');
    expect((await schemaDrift(dataSource)).join()).toContain('assistant_id');
  });

  it('can be reverted completely and run again with the same result', async () => {
    const before = await schema();
    expect(before.length).toBeGreaterThan(100);
    await revertAll();
    expect(
      (await schema()).filter(({ name }) => !name.startsWith('migrations.') && !/^(PK_|migrations)/.test(name)),
    ).toEqual([]);
    expect(await migrate(dataSource)).toEqual(dataSource.migrations.map(({ name }) => name));
    expect(await schema()).toEqual(before);
  });

  it('run only once', async () => {
    expect(await migrate(dataSource)).toEqual([]);
  });

  it('run once when several processes start at the same time', async () => {
    await revertAll();
    await dataSource.query('DROP TABLE migrations');
    for (let i = 0; i < 3; i++) more.push(await createDataSource(database.url, 3).initialize());
    const done = await Promise.all([dataSource, ...more].map(migrate));
    expect(done.flat()).toEqual(dataSource.migrations.map(({ name }) => name));
    expect(await dataSource.query('SELECT name FROM migrations')).toEqual(done.flat().map((name) => ({ name })));
  });

  it('run without time-outs and release their lock', async () => {
    class Slow1999999999999 implements MigrationInterface {
      name = 'Slow1999999999999';
      up = (runner: QueryRunner) =>
        runner.query(`CREATE TABLE time_limits AS SELECT current_setting('statement_timeout') AS statement,
          current_setting('idle_in_transaction_session_timeout') AS idle`) as Promise<void>;
      down = async () => undefined;
    }
    await migrate(withMigration(Slow1999999999999));
    expect(await dataSource.query('SELECT * FROM time_limits')).toEqual([{ statement: '0', idle: '0' }]);
    expect(await dataSource.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '15s' }]);
    expect(
      await dataSource.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database =
      (SELECT oid FROM pg_database WHERE datname = current_database())`),
    ).toEqual([]);
  });

  it('roll back and release their lock when they fail', async () => {
    class Broken1999999999999 implements MigrationInterface {
      name = 'Broken1999999999999';
      up = async (runner: QueryRunner) => {
        await runner.query('CREATE TABLE half_done ()');
        await runner.query('SELECT 1 / 0');
      };
      down = async () => undefined;
    }
    await expect(migrate(withMigration(Broken1999999999999))).rejects.toThrow('division by zero');
    expect(await dataSource.query(`SELECT to_regclass('half_done') AS found`)).toEqual([{ found: null }]);
    expect(await migrate(dataSource)).toEqual([]);
  });

  it.each([
    [
      'a newer version',
      'Later1999999999999',
      'The database belongs to another version: it has migrations that this version does not know (Later1999999999999). ' +
        'Start the version that created them, or use an empty database',
    ],
    [
      'a time before the first release',
      'Initial1732600000000',
      'The database is from before the first release, which does not upgrade it: start with an empty one, at another ' +
        'DATABASE_URL or, if the database is the embedded one, after moving the folder postgres out of DATA_DIR',
    ],
  ])('are rejected for a database with a migration of %s, and leave it unchanged', async (_, name, message) => {
    await dataSource.query(`UPDATE migrations SET name = $1 WHERE id = 1`, [name]);
    const before = await schema();
    await expect(migrate(dataSource)).rejects.toThrow(message);
    expect(await schema()).toEqual(before);
    await dataSource.query(`UPDATE migrations SET name = $1 WHERE id = 1`, [dataSource.migrations[0]?.name]);
    expect(await migrate(dataSource)).toEqual([]);
  });
});
