import type { DataSource } from 'typeorm';

/**
 * The statements that would make the schema of the database match the entities; none if the migrations agree with them.
 * TypeORM reads the tables with several queries at once on one connection, which pg warns of and will refuse: here they
 * wait for each other.
 */
export async function schemaDrift(dataSource: DataSource): Promise<string[]> {
  const builder = dataSource.driver.createSchemaBuilder();
  const createQueryRunner = dataSource.createQueryRunner.bind(dataSource);
  dataSource.createQueryRunner = (mode) => {
    const runner = createQueryRunner(mode);
    const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
    let last: Promise<unknown> = Promise.resolve();
    runner.query = (...parameters: unknown[]) => {
      const next = last.then(() => query(...parameters));
      last = next.catch(() => undefined);
      return next as Promise<never>;
    };
    return runner;
  };
  try {
    const { upQueries } = await builder.log();
    return upQueries.map(({ query }) => query);
  } finally {
    dataSource.createQueryRunner = createQueryRunner;
  }
}
