/** Stored responses of idempotent requests, and the processes that run jobs. */
export const REQUEST_TABLES = `
  CREATE TABLE idempotency_keys (
    id text NOT NULL CONSTRAINT idempotency_keys_pkey PRIMARY KEY,
    body_hash text NOT NULL,
    status smallint NOT NULL,
    response text NOT NULL,
    expires_at timestamptz(3) NOT NULL
  );
  CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);

  CREATE TABLE queue_workers (
    id uuid NOT NULL CONSTRAINT queue_workers_pkey PRIMARY KEY,
    pools text[] NOT NULL,
    machine text NOT NULL,
    pid integer NOT NULL,
    started_at timestamptz(3) NOT NULL,
    seen_at timestamptz(3) NOT NULL
  );
  CREATE INDEX queue_workers_seen_at_idx ON queue_workers (seen_at);
`;
