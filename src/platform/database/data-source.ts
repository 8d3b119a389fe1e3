import { DataSource, type DataSourceOptions } from 'typeorm';
import { connectionOptions } from './data-source-options.js';
import { Initial1732000000000 } from './migrations/1732000000000-initial.js';
import { EvaluationAuthoring1732100000000 } from './migrations/1732100000000-evaluation-authoring.js';
import { Webhooks1732200000000 } from './migrations/1732200000000-webhooks.js';
import { RunExecution1732300000000 } from './migrations/1732300000000-run-execution.js';
import { Growth1732400000000 } from './migrations/1732400000000-growth.js';
import { ClaimsInBatches1732500000000 } from './migrations/1732500000000-claims-in-batches.js';

export interface DataSourceInput {
  /** PostgreSQL connection string. */
  readonly url: string;
  /** Maximum number of connections of this process. */
  readonly poolSize: number;
  readonly entities: NonNullable<DataSourceOptions['entities']>;
}

/** A data source with all migrations, not connected yet. The schema changes by migrations only. */
export function buildDataSource({ url, poolSize, entities }: DataSourceInput): DataSource {
  return new DataSource({
    ...connectionOptions(url, poolSize),
    entities,
    migrations: [
      Initial1732000000000,
      EvaluationAuthoring1732100000000,
      Webhooks1732200000000,
      RunExecution1732300000000,
      Growth1732400000000,
      ClaimsInBatches1732500000000,
    ],
  });
}
