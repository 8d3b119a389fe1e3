/**
 * Claims due calls of a medium of an agent for its concurrency slots, one for each of `claims` (decision 60). A function, because
 * each of its statements has a snapshot of its own: a single statement would not see what was committed while it waited
 * for the lock. The limit of a run holds for calls of both media together. Rows without a claim contain those of
 * `previous_runs` that have no open calls left.
 */
export const CLAIM_CALLS_OF_MEDIUM = `
  CREATE FUNCTION claim_calls(agent uuid, slot_medium text, claims uuid[], lease interval, previous_runs uuid[])
    RETURNS TABLE (claim_id uuid, id uuid, run_id uuid, workspace_id uuid, evaluation_id uuid, protocol text)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      running integer;
      taken integer := 0;
      taken_before integer;
      due record;
    BEGIN
      RETURN QUERY
        SELECT NULL::uuid, NULL::uuid, p.id, NULL::uuid, NULL::uuid, NULL FROM unnest(previous_runs) p (id)
         WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.run_id = p.id AND c.status IN ('QUEUED', 'RUNNING'));
      -- A claim lost in a crash of the server is made again, so it need not wait for the disk.
      PERFORM set_config('synchronous_commit', 'off', true);
      PERFORM pg_advisory_xact_lock(hashtextextended('calls:' || agent, 0));
      SELECT count(*) INTO running FROM calls c WHERE c.agent_id = agent AND c.status = 'RUNNING';
      LOOP
        taken_before := taken;
        FOR due IN
          SELECT c.id, c.run_id, c.workspace_id, c.evaluation_id, c.protocol, r.concurrency, r.status AS run_status
            FROM calls c JOIN runs r ON r.id = c.run_id
           WHERE c.agent_id = agent AND c.medium = slot_medium AND c.status = 'QUEUED' AND c.due_at <= clock_timestamp()
             AND r.concurrency > running
           ORDER BY c.created_at, c.run_id, c.position LIMIT cardinality(claims) - taken
             FOR UPDATE OF c SKIP LOCKED
        LOOP
          -- The calls claimed before it may have used up the concurrency of its run.
          CONTINUE WHEN due.concurrency <= running;
          running := running + 1;
          taken := taken + 1;
          UPDATE calls SET status = 'RUNNING', claim_id = claims[taken], lease_until = clock_timestamp() + lease,
                 started_at = coalesce(started_at, clock_timestamp()), updated_at = clock_timestamp(),
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
          RETURN NEXT;
        END LOOP;
        EXIT WHEN taken = taken_before OR taken = cardinality(claims);
      END LOOP;
    END $$;
`;
