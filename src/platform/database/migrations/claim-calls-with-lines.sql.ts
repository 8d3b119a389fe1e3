/**
 * As `claim_calls` of a medium. Calls over `line_protocol` also take a line of its credential, in the same transaction: at
 * most `line_limit` calls have one at once. A line goes to the workspace that has the fewest, then to such an agent, then to
 * the one that waits longest; `line_waits` has those that wait. An attempt whose platform may still carry an earlier one is
 * not claimed. Null for `line_protocol`: calls need no line.
 */
export const CLAIM_CALLS_WITH_LINES = `
  CREATE FUNCTION claim_calls(agent uuid, slot_medium text, claims uuid[], lease interval, previous_runs uuid[],
                              line_protocol text, line_credential text, line_limit integer)
    RETURNS TABLE (claim_id uuid, id uuid, run_id uuid, workspace_id uuid, evaluation_id uuid, protocol text, bills boolean,
                   line text)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      running integer;
      taken integer := 0;
      taken_before integer;
      free integer := 0;
      due record;
      waiting integer;
    BEGIN
      RETURN QUERY
        SELECT NULL::uuid, NULL::uuid, p.id, NULL::uuid, NULL::uuid, NULL, NULL::boolean, NULL
          FROM unnest(previous_runs) p (id)
         WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = p.id AND c.status IN ('QUEUED', 'RUNNING'));
      -- A claim lost in a crash of the server is made again, so it need not wait for the disk.
      PERFORM set_config('synchronous_commit', 'off', true);
      PERFORM pg_advisory_xact_lock(hashtextextended('calls:' || agent, 0));
      IF line_protocol IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('line:' || line_credential, 0));
        free := granted_lines(agent, slot_medium, line_credential, line_limit, cardinality(claims));
      END IF;
      SELECT count(*) INTO running FROM calls c WHERE c.agent_id = agent AND c.status = 'RUNNING';
      LOOP
        taken_before := taken;
        FOR due IN
          SELECT c.id, c.run_id, c.workspace_id, c.evaluation_id, c.protocol, c.bills, r.concurrency,
                 r.status AS run_status, jsonb_array_length(c.attempts) + 1 AS attempt,
                 c.source_call_id IS NULL AND c.protocol IS NOT DISTINCT FROM line_protocol AS needs_line
            FROM calls c JOIN runs r ON r.id = c.run_id
           WHERE c.agent_id = agent AND c.medium = slot_medium AND c.status = 'QUEUED' AND c.due_at <= clock_timestamp()
             AND r.concurrency > running AND NOT (c.bills AND has_open_platform_call(c.id))
             AND (free > 0 OR c.source_call_id IS NOT NULL OR c.protocol IS DISTINCT FROM line_protocol)
           ORDER BY c.created_at, c.run_id, c.position LIMIT cardinality(claims) - taken
             FOR UPDATE OF c SKIP LOCKED
        LOOP
          -- The calls claimed before it may have used up the concurrency of its run, or the lines.
          CONTINUE WHEN due.concurrency <= running OR (due.needs_line AND free <= 0);
          running := running + 1;
          taken := taken + 1;
          IF due.needs_line THEN
            free := free - 1;
            INSERT INTO platform_calls (claim_id, call_id, run_id, workspace_id, agent_id, medium, protocol, bills, attempt,
                                        credential, state, lease_until, end_failures, created_at, updated_at)
            VALUES (claims[taken], due.id, due.run_id, due.workspace_id, agent, slot_medium, due.protocol, due.bills,
                    due.attempt, line_credential, 'line', clock_timestamp() + lease, 0, clock_timestamp(), clock_timestamp());
          END IF;
          UPDATE calls SET status = 'RUNNING', claim_id = claims[taken], lease_until = clock_timestamp() + lease,
                 started_at = coalesce(started_at, clock_timestamp()), updated_at = clock_timestamp(),
                 waited_for_line_ms = waited_for_line_ms + line_wait_ms(line_wait_since), line_wait_since = NULL,
                 changed_in = pg_current_xact_id()::text::bigint
           WHERE calls.id = due.id;
          IF due.run_status = 'QUEUED' THEN
            UPDATE runs SET status = 'RUNNING', started_at = clock_timestamp(), updated_at = clock_timestamp()
             WHERE runs.id = due.run_id AND status = 'QUEUED';
          END IF;
          claim_id := claims[taken];
          id := due.id;
          run_id := due.run_id;
          workspace_id := due.workspace_id;
          evaluation_id := due.evaluation_id;
          protocol := due.protocol;
          bills := due.bills;
          line := CASE WHEN due.needs_line THEN line_credential END;
          RETURN NEXT;
        END LOOP;
        EXIT WHEN taken = taken_before OR taken = cardinality(claims);
      END LOOP;
      IF line_protocol IS NULL THEN RETURN; END IF;
      -- What this claim would have taken, had there been lines.
      WITH unserved AS MATERIALIZED (
        SELECT c.id, c.workspace_id FROM calls c JOIN runs r ON r.id = c.run_id
         WHERE c.agent_id = agent AND c.medium = slot_medium AND c.status = 'QUEUED' AND c.due_at <= clock_timestamp()
           AND c.source_call_id IS NULL AND c.protocol = line_protocol AND r.concurrency > running
           AND NOT (c.bills AND has_open_platform_call(c.id))
         ORDER BY c.created_at, c.run_id, c.position LIMIT cardinality(claims) - taken FOR UPDATE OF c SKIP LOCKED),
      marked AS (
        UPDATE calls SET line_wait_since = clock_timestamp()
         WHERE calls.id IN (SELECT u.id FROM unserved u) AND line_wait_since IS NULL),
      noted AS (
        INSERT INTO line_waits (credential, agent_id, medium, workspace_id, since, seen_at)
        SELECT line_credential, agent, slot_medium, u.workspace_id, clock_timestamp(), clock_timestamp()
          FROM (SELECT workspace_id FROM unserved LIMIT 1) u
        ON CONFLICT ON CONSTRAINT line_waits_pkey DO UPDATE SET seen_at = excluded.seen_at)
      SELECT count(*) INTO waiting FROM unserved;
      IF waiting = 0 AND taken < cardinality(claims) THEN
        DELETE FROM line_waits w
         WHERE w.credential = line_credential AND w.agent_id = agent AND w.medium = slot_medium;
      END IF;
    END $$;
`;

/** What `claim_calls` uses, and the release of a line. */
export const LINE_FUNCTIONS = `
  CREATE FUNCTION has_open_platform_call(call uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM platform_calls p WHERE p.call_id = call AND p.state <> 'ended') $$;

  CREATE FUNCTION line_wait_ms(since timestamptz) RETURNS integer LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(round(extract(epoch FROM clock_timestamp() - since) * 1000), 0)::integer $$;

  -- A call that could not be ended lasts an hour at most.
  CREATE VIEW used_lines AS
    SELECT credential, workspace_id, agent_id FROM platform_calls
     WHERE state <> 'ended' AND (state <> 'unended' OR created_at > clock_timestamp() - interval '1 hour');

  -- Agents with a process that wanted a line for them lately, the next one first.
  CREATE VIEW line_queue AS
    SELECT w.credential, w.agent_id, w.medium, w.workspace_id, w.since,
           (SELECT count(*)::integer FROM used_lines u
             WHERE u.credential = w.credential AND u.workspace_id = w.workspace_id) AS of_workspace,
           (SELECT count(*)::integer FROM used_lines u
             WHERE u.credential = w.credential AND u.agent_id = w.agent_id) AS of_agent
      FROM line_waits w WHERE w.seen_at > clock_timestamp() - interval '15 seconds';

  CREATE FUNCTION granted_lines(agent uuid, slot_medium text, line_credential text, line_limit integer, wanted integer)
    RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
      workspace uuid := (SELECT a.workspace_id FROM agents a WHERE a.id = agent);
      free integer;
      own_workspace integer;
      own_agent integer;
      own_since timestamptz;
      granted integer := 0;
    BEGIN
      SELECT line_limit - count(*), count(*) FILTER (WHERE u.workspace_id = workspace),
             count(*) FILTER (WHERE u.agent_id = agent)
        INTO free, own_workspace, own_agent FROM used_lines u WHERE u.credential = line_credential;
      SELECT w.since INTO own_since FROM line_waits w
       WHERE w.credential = line_credential AND w.agent_id = agent AND w.medium = slot_medium;
      own_since := coalesce(own_since, clock_timestamp());
      WHILE granted < least(wanted, free) LOOP
        EXIT WHEN free - granted <= (
          SELECT count(*) FROM line_queue q
           WHERE q.credential = line_credential AND (q.agent_id, q.medium) <> (agent, slot_medium)
             AND (q.of_workspace, q.of_agent, q.since) < (own_workspace + granted, own_agent + granted, own_since));
        granted := granted + 1;
      END LOOP;
      RETURN granted;
    END $$;

  -- Returns whom the line is for. The lock: a claim that found no line has noted that it waits before the line is free.
  CREATE FUNCTION release_line(claim uuid) RETURNS TABLE (agent_id uuid, medium text, workspace_id uuid)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      freed text := (SELECT p.credential FROM platform_calls p WHERE p.claim_id = claim AND p.state <> 'ended');
    BEGIN
      IF freed IS NULL THEN RETURN; END IF;
      PERFORM pg_advisory_xact_lock(hashtextextended('line:' || freed, 0));
      UPDATE platform_calls SET state = 'ended', handle = NULL, ended_at = clock_timestamp(), updated_at = clock_timestamp(),
             paid_by = coalesce(paid_by, CASE WHEN placed_at IS NOT NULL THEN 'tester' END),
             paid_seconds = coalesce(paid_seconds, extract(epoch FROM clock_timestamp() - placed_at)::double precision)
       WHERE claim_id = claim;
      RETURN QUERY
        SELECT q.agent_id, q.medium, q.workspace_id FROM line_queue q
         WHERE q.credential = freed ORDER BY q.of_workspace, q.of_agent, q.since LIMIT 1;
    END $$;

  -- The test of a connection takes a line at once or not at all, before calls that wait: it lasts for seconds.
  CREATE FUNCTION take_line_for_test(claim uuid, agent uuid, workspace uuid, test_medium text, test_protocol text,
                                     is_billed boolean, line_credential text, line_limit integer, lease interval)
    RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('line:' || line_credential, 0));
      IF (SELECT count(*) FROM used_lines u WHERE u.credential = line_credential) >= line_limit THEN
        RETURN false;
      END IF;
      INSERT INTO platform_calls (claim_id, workspace_id, agent_id, medium, protocol, bills, attempt, credential, state,
                                  lease_until, end_failures, created_at, updated_at)
      VALUES (claim, workspace, agent, test_medium, test_protocol, is_billed, 1, line_credential,
              CASE WHEN is_billed THEN 'dialling' ELSE 'line' END, clock_timestamp() + lease, 0, clock_timestamp(),
              clock_timestamp());
      RETURN true;
    END $$;
`;
