-- What platforms carry now. A call that could not be ended lasts an hour at most.
CREATE OR REPLACE VIEW used_capacity AS
  SELECT credential FROM platform_calls
   WHERE state <> 'ended' AND (state <> 'not_ended' OR created_at > clock_timestamp() - interval '1 hour');

-- Claims due calls for the free slots of a process: the one way in which a call starts.
--
-- slots  a list with an entry per medium that has free slots: medium; claims, an id per free slot; kept, the number of slots
--        that only workspaces without a slot get; holders, the workspaces that hold a slot in the process
-- lease  how long a claim is valid unless it is renewed
--
-- A function, because each of its statements has a snapshot of its own: a single statement would not see what was committed
-- while it waited for the lock.
CREATE OR REPLACE FUNCTION claim_calls(slots jsonb, lease interval)
  RETURNS TABLE (claim_id uuid, id uuid, run_id uuid, workspace_id uuid, agent_id uuid, evaluation_id uuid, protocol text,
                 medium text, bills boolean, credential text, capacity integer, is_repeated boolean)
  LANGUAGE plpgsql
  -- Estimates of lists in JSON are high: compiling the plan would take ten times as long as executing it.
  SET jit = off
  -- The tables have many ended calls, and statistics of queued ones are often old.
  SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  due record;
  needed record;
  moment timestamptz := clock_timestamp();
  claims jsonb := (SELECT jsonb_object_agg(s ->> 'medium', s -> 'claims') FROM jsonb_array_elements(slots) s);
  kept jsonb := (SELECT jsonb_object_agg(s ->> 'medium', s -> 'kept') FROM jsonb_array_elements(slots) s);
  -- "medium workspace" of each that holds a slot.
  holders text[] := ARRAY(SELECT (s ->> 'medium') || ' ' || h FROM jsonb_array_elements(slots) s,
                                 jsonb_array_elements_text(s -> 'holders') h);
  -- Running calls by agent and calls by credential, as this claim has changed them.
  running jsonb := '{}';
  used jsonb := '{}';
  started uuid[] := '{}';
  free integer;
  earlier integer;
BEGIN
  -- Idle: an open run with a due call is looked for without the lock.
  IF NOT EXISTS (
    SELECT FROM runs r JOIN calls c ON c.run_id = r.id
     WHERE r.status IN ('QUEUED', 'RUNNING') AND c.status = 'QUEUED' AND claims ? c.medium AND c.due_at <= moment) THEN
    RETURN;
  END IF;
  -- A claim lost in a crash of the server is made again, so it need not wait for the disk.
  PERFORM set_config('synchronous_commit', 'off', true);
  -- One claim at a time in the cluster, so that no limit is exceeded. Nothing below waits: rows that others hold are skipped.
  PERFORM pg_advisory_xact_lock(hashtextextended('calls:claim', 0));
  moment := clock_timestamp();
  FOR due IN
    WITH RECURSIVE
    -- Agents with open runs: one step in the index for each, however many runs it has.
    agents AS (
      (SELECT r.workspace_id, r.agent_id FROM runs r WHERE r.status IN ('QUEUED', 'RUNNING')
        ORDER BY r.workspace_id, r.agent_id LIMIT 1)
      UNION ALL
      SELECT n.workspace_id, n.agent_id FROM agents a CROSS JOIN LATERAL (
        SELECT r.workspace_id, r.agent_id FROM runs r
         WHERE r.status IN ('QUEUED', 'RUNNING') AND (r.workspace_id, r.agent_id) > (a.workspace_id, a.agent_id)
         ORDER BY r.workspace_id, r.agent_id LIMIT 1) n),
    -- Running calls, in all processes. Those that only wait for their sound take no capacity.
    running AS MATERIALIZED (
      SELECT c.workspace_id, c.agent_id, c.medium, count(*)::integer AS calls
        FROM calls c WHERE c.status = 'RUNNING' AND c.lease_until < 'infinity' GROUP BY c.workspace_id, c.agent_id, c.medium),
    -- Protocols over which the platform carries as many calls of the agent's credential as it may.
    used_up AS MATERIALIZED (
      SELECT k.agent_id, k.protocol
        FROM (SELECT credential, count(*) AS calls FROM used_capacity GROUP BY credential) u
        JOIN agent_capacity k ON k.credential = u.credential AND u.calls >= k.capacity),
    free AS MATERIALIZED (
      SELECT s ->> 'medium' AS medium, jsonb_array_length(s -> 'claims') AS slots FROM jsonb_array_elements(slots) s),
    -- Per agent and medium at most as many calls as slots are free, by run and position; as many that wait for capacity.
    candidates AS (
      SELECT a.workspace_id, a.agent_id, f.medium, w.is_waiting, n.calls AS of_agent, c.*
        FROM agents a
       CROSS JOIN free f
       CROSS JOIN (VALUES (false), (true)) w (is_waiting)
       CROSS JOIN LATERAL (
         SELECT coalesce(sum(o.calls), 0)::integer AS calls FROM running o WHERE o.agent_id = a.agent_id) n
       CROSS JOIN LATERAL (
         SELECT d.*, r.id AS run_id, r.created_at, r.concurrency, r.status AS run_status
           FROM runs r
          CROSS JOIN LATERAL (
            SELECT c.id, c.evaluation_id, c.protocol, c.bills, c.position, c.source_call_id IS NOT NULL AS is_derived,
                   c.capacity_wait_since IS NOT NULL AS is_known_to_wait
              FROM calls c
             WHERE c.run_id = r.id AND c.medium = f.medium AND c.status = 'QUEUED' AND c.due_at <= moment
               -- The platform may still carry the last attempt, which is billed.
               AND NOT (c.bills AND EXISTS (SELECT FROM platform_calls p WHERE p.call_id = c.id AND p.state <> 'ended'))
             ORDER BY c.position LIMIT least(f.slots, r.concurrency - n.calls)) d
          WHERE r.workspace_id = a.workspace_id AND r.agent_id = a.agent_id AND r.status IN ('QUEUED', 'RUNNING')
            -- A run limits the calls of its agent over both media.
            AND r.concurrency > n.calls
            -- All calls of a run have one protocol. Derived runs need no capacity.
            AND w.is_waiting = (r.derived_from IS NULL AND EXISTS (
              SELECT FROM used_up u WHERE u.agent_id = a.agent_id AND u.protocol = (
                SELECT c.protocol FROM calls c
                 WHERE c.run_id = r.id AND c.medium = f.medium AND c.status = 'QUEUED' LIMIT 1)))
          ORDER BY r.created_at, r.id, d.position LIMIT f.slots) c
       WHERE NOT w.is_waiting OR EXISTS (SELECT FROM used_up u WHERE u.agent_id = a.agent_id)),
    -- How many calls the agent has with this one.
    by_agent AS (
      SELECT c.*, coalesce(o.calls, 0) + row_number() OVER (
               PARTITION BY c.agent_id, c.medium, c.is_waiting ORDER BY c.created_at, c.run_id, c.position) AS agent_level
        FROM candidates c LEFT JOIN running o ON o.agent_id = c.agent_id AND o.medium = c.medium
       -- Nothing changes for those that wait already.
       WHERE NOT (c.is_waiting AND c.is_known_to_wait)),
    -- How many the workspace has with this one, if agents with fewer calls go first.
    by_workspace AS (
      SELECT c.*, coalesce(o.calls, 0) + row_number() OVER (
               PARTITION BY c.workspace_id, c.medium, c.is_waiting
                   ORDER BY c.agent_level, c.created_at, c.run_id, c.position) AS workspace_level
        FROM by_agent c
        LEFT JOIN (SELECT r.workspace_id, r.medium, sum(r.calls) AS calls FROM running r GROUP BY r.workspace_id, r.medium) o
          ON o.workspace_id = c.workspace_id AND o.medium = c.medium)
    -- The workspace with the fewest calls of the medium, then the agent with the fewest, then the oldest.
    SELECT * FROM by_workspace c ORDER BY c.workspace_level, c.agent_level, c.created_at, c.run_id, c.position
  LOOP
    free := jsonb_array_length(claims -> due.medium);
    CONTINUE WHEN free = 0;
    -- The last slots are kept for workspaces that hold none.
    CONTINUE WHEN free <= (kept ->> due.medium)::integer AND due.medium || ' ' || due.workspace_id = ANY (holders);
    -- The calls claimed before it may have used up the concurrency of its run.
    CONTINUE WHEN coalesce((running ->> due.agent_id::text)::integer, due.of_agent) >= due.concurrency;
    SELECT k.credential, k.capacity INTO needed FROM agent_capacity k
     WHERE NOT due.is_derived AND k.agent_id = due.agent_id AND k.protocol = due.protocol;
    IF needed.credential IS NOT NULL THEN
      IF NOT used ? needed.credential THEN
        used := jsonb_set(used, ARRAY[needed.credential], to_jsonb((
          SELECT count(*) FROM used_capacity u WHERE u.credential = needed.credential)));
      END IF;
      -- Without capacity the call waits, from now on.
      IF (used ->> needed.credential)::integer >= needed.capacity THEN
        UPDATE calls SET capacity_wait_since = moment
         WHERE calls.id = (SELECT c.id FROM calls c
                            WHERE c.id = due.id AND c.status = 'QUEUED' AND c.capacity_wait_since IS NULL
                              FOR UPDATE SKIP LOCKED);
        CONTINUE;
      END IF;
    END IF;
    -- The first call of a run starts it. A run that is being cancelled is skipped.
    IF due.run_status = 'QUEUED' AND due.run_id <> ALL (started) THEN
      UPDATE runs SET status = 'RUNNING', started_at = moment, updated_at = moment
       WHERE runs.id = (SELECT r.id FROM runs r WHERE r.id = due.run_id AND r.status = 'QUEUED' FOR UPDATE SKIP LOCKED);
      CONTINUE WHEN NOT FOUND;
      started := started || due.run_id;
    END IF;
    claim_id := (claims -> due.medium ->> 0)::uuid;
    UPDATE calls SET status = 'RUNNING', claim_id = claim_calls.claim_id, lease_until = moment + lease,
           started_at = coalesce(started_at, moment), updated_at = moment,
           waited_for_line_ms = waited_for_line_ms + capacity_wait_ms(capacity_wait_since), capacity_wait_since = NULL,
           changed_in = pg_current_xact_id()::text::bigint
     WHERE calls.id = (SELECT c.id FROM calls c WHERE c.id = due.id AND c.status = 'QUEUED' FOR UPDATE SKIP LOCKED)
    RETURNING jsonb_array_length(attempts) INTO earlier;
    CONTINUE WHEN NOT FOUND;
    IF needed.credential IS NOT NULL THEN
      INSERT INTO platform_calls (claim_id, call_id, run_id, workspace_id, agent_id, medium, protocol, bills, attempt, credential,
                                  state, lease_until, end_failures, created_at, updated_at)
      VALUES (claim_id, due.id, due.run_id, due.workspace_id, due.agent_id, due.medium, due.protocol, due.bills, earlier + 1,
              needed.credential, 'reserved', moment + lease, 0, moment, moment);
      used := jsonb_set(used, ARRAY[needed.credential], to_jsonb((used ->> needed.credential)::integer + 1));
    END IF;
    claims := jsonb_set(claims, ARRAY[due.medium], (claims -> due.medium) - 0);
    holders := holders || (due.medium || ' ' || due.workspace_id);
    running := jsonb_set(running, ARRAY[due.agent_id::text],
                         to_jsonb(coalesce((running ->> due.agent_id::text)::integer, due.of_agent) + 1));
    id := due.id;
    run_id := due.run_id;
    workspace_id := due.workspace_id;
    agent_id := due.agent_id;
    evaluation_id := due.evaluation_id;
    protocol := due.protocol;
    medium := due.medium;
    bills := due.bills;
    credential := needed.credential;
    capacity := needed.capacity;
    is_repeated := earlier > 0;
    RETURN NEXT;
    EXIT WHEN NOT EXISTS (SELECT FROM jsonb_each(claims) m WHERE m.value <> '[]');
  END LOOP;
END $$;
