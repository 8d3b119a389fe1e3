import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How single agents are reached, and the recent tests of connections. */
export class Connections1732800100000 implements MigrationInterface {
  name = 'Connections1732800100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE agent_connections (
        agent_id uuid NOT NULL CONSTRAINT agent_connections_pkey PRIMARY KEY
          CONSTRAINT agent_connections_agent_id_fkey REFERENCES agents (id),
        protocol text NOT NULL,
        url text NOT NULL,
        first_speaker text CONSTRAINT agent_connections_first_speaker_check CHECK (first_speaker IN ('caller', 'agent')),
        options jsonb NOT NULL,
        secrets text NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE connection_tests (
        id uuid NOT NULL CONSTRAINT connection_tests_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT connection_tests_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL,
        started_at timestamptz(3) NOT NULL DEFAULT now(),
        running_until timestamptz(3) NOT NULL
      );
      CREATE INDEX connection_tests_workspace_id_idx ON connection_tests (workspace_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE connection_tests;
      DROP TABLE agent_connections;
    `);
  }
}
