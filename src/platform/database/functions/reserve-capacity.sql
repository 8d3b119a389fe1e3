-- Reserves capacity for the test of a connection, at once or not at all, before calls that wait: it lasts for seconds. Under the
-- lock of claims, so that both together never exceed what there is.
CREATE OR REPLACE FUNCTION reserve_for_test(claim uuid, agent uuid, workspace uuid, test_medium text, test_protocol text,
                                            is_billed boolean, used_credential text, most integer, lease interval)
  RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('calls:claim', 0));
  IF (SELECT count(*) FROM used_capacity u WHERE u.credential = used_credential) >= most THEN
    RETURN false;
  END IF;
  INSERT INTO platform_calls (claim_id, workspace_id, agent_id, medium, protocol, bills, attempt, credential, state, lease_until,
                              end_failures, created_at, updated_at)
  VALUES (claim, workspace, agent, test_medium, test_protocol, is_billed, 1, used_credential,
          CASE WHEN is_billed THEN 'dialling' ELSE 'reserved' END, clock_timestamp() + lease, 0, clock_timestamp(),
          clock_timestamp());
  RETURN true;
END $$;
