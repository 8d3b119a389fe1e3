import type { MigrationInterface, QueryRunner } from 'typeorm';
import { readFunction } from './read-function.js';

/** Whether the sound of production calls is measured, and calls that go on until it is there: they take no capacity. */
export class SoundOfProductionCalls1796051000000 implements MigrationInterface {
  readonly name = 'SoundOfProductionCalls1796051000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE agent_monitoring ADD COLUMN recordings text NOT NULL DEFAULT 'measure_only'
        CONSTRAINT agent_monitoring_recordings_check CHECK (recordings IN ('measure_only', 'keep', 'none'));
      ALTER TABLE fetched_calls ADD COLUMN awaits_sound boolean NOT NULL DEFAULT false;
      ${readFunction('claim-calls')}`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      DELETE FROM calls WHERE status = 'RUNNING' AND lease_until = 'infinity';
      ALTER TABLE fetched_calls DROP COLUMN awaits_sound;
      ALTER TABLE agent_monitoring DROP COLUMN recordings`) as Promise<void>;
}
