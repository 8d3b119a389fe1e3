/** The columns of `runs r`, named like the entity's properties. */
export const RUN_COLUMNS = `r.id, r.workspace_id AS "workspaceId", r.agent_id AS "agentId", r.user_id AS "userId", r.label,
  r.name, r.status, r.score, r.total_calls AS "totalCalls", r.repeat, r.concurrency,
  r.minimum_score AS "minimumScore", r.minimum_pass_rate AS "minimumPassRate",
  r.allowed_uncounted AS "allowedUncounted", r.not_worse_than AS "notWorseThan", r.baseline_id AS "baselineRunId",
  r.agent_version AS "agentVersion", r.medium, r.agent_variables AS "agentVariables",
  r.assistant_version AS "assistantVersion", r.schedule_id AS "scheduleId", r.max_paid_attempts AS "maxPaidAttempts",
  r.derived_from AS "derivedFrom", r.derived_kind AS "derivedKind",
  r.left_out_calls AS "leftOutCalls", r.left_out_critical AS "leftOutCritical", r.is_imported AS "isImported",
  r.origin, r.day::text, r.open_until AS "openUntil",
  r.warnings, r.exit_code AS "exitCode", r.agent_snapshot AS "agentSnapshot", r.reasons, r.started_at AS "startedAt",
  r.ended_at AS "endedAt", r.created_at AS "createdAt", r.updated_at AS "updatedAt"`;
