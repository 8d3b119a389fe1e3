import type { MigrationInterface, QueryRunner } from 'typeorm';
import { readFunction } from './read-function.js';

/** Workspaces with their users, API keys and provider keys, the rates of plans, and the check value of the encryption keys. */
export class Workspaces1733400000100 implements MigrationInterface {
  name = 'Workspaces1733400000100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workspaces (
        id uuid NOT NULL CONSTRAINT workspaces_pkey PRIMARY KEY,
        name text NOT NULL,
        plan text NOT NULL CONSTRAINT workspaces_plan_check CHECK (plan IN ('FREE', 'PRO', 'ENTERPRISE')),
        requests_per_minute integer,
        score_threshold double precision,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE users (
        id uuid NOT NULL CONSTRAINT users_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT users_workspace_id_fkey REFERENCES workspaces (id),
        name text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX users_workspace_id_idx ON users (workspace_id);

      CREATE TABLE api_keys (
        id uuid NOT NULL CONSTRAINT api_keys_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT api_keys_workspace_id_fkey REFERENCES workspaces (id),
        user_id uuid NOT NULL CONSTRAINT api_keys_user_id_fkey REFERENCES users (id),
        name text NOT NULL,
        role text NOT NULL CONSTRAINT api_keys_role_check CHECK (role IN ('VIEWER', 'EDITOR', 'ADMIN')),
        prefix text NOT NULL,
        hash text NOT NULL,
        last_used_at timestamptz(3),
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        created_by_user_id uuid NOT NULL
      );
      CREATE INDEX api_keys_workspace_id_idx ON api_keys (workspace_id);
      CREATE UNIQUE INDEX api_keys_hash_key ON api_keys (hash);

      CREATE TABLE provider_keys (
        workspace_id uuid NOT NULL CONSTRAINT provider_keys_workspace_id_fkey REFERENCES workspaces (id),
        provider text NOT NULL,
        api_key text NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT provider_keys_pkey PRIMARY KEY (workspace_id, provider)
      );

      CREATE TABLE plan_rates (
        plan text NOT NULL CONSTRAINT plan_rates_pkey PRIMARY KEY,
        requests_per_minute integer NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE encryption_canary (
        id smallint NOT NULL CONSTRAINT encryption_canary_pkey PRIMARY KEY,
        sealed text NOT NULL
      );

      ${readFunction('notify-api-keys-changed')}
      -- Triggers, so that changes made by the administrator's command or by hand in the database also reach every process.
      CREATE TRIGGER api_keys_changed
        AFTER INSERT OR DELETE OR UPDATE OF role, hash, expires_at, revoked_at, workspace_id, user_id ON api_keys
        FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
      CREATE TRIGGER workspaces_plan_changed
        AFTER UPDATE OF plan, requests_per_minute ON workspaces
        FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE encryption_canary, plan_rates, provider_keys, api_keys, users, workspaces;
      DROP FUNCTION notify_api_keys_changed;
    `);
  }
}
