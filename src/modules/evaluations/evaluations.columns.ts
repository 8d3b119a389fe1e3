/** The columns of `evaluations e`, named like the entity's properties. */
export const COLUMNS = `e.id, e.workspace_id AS "workspaceId", e.agent_id AS "agentId", e.personality_id AS "personalityId",
  e.created_by_user_id AS "createdByUserId", e.name, e.scenario_text AS "scenarioText",
  e.general_instructions AS "generalInstructions", e.vendor_call_phone_number AS "vendorCallPhoneNumber",
  e.key, e.critical, e.tags, e.script, e.checks, e.criteria, e.max_turns AS "maxTurns",
  e.max_duration_seconds AS "maxDurationSeconds",
  e.language, e.timezone, e.variables, e.history, e.tool_results AS "toolResults",
  e.conditions, e.turn_end_ms AS "turnEndMs", e.fillers,
  e.agent_variables AS "agentVariables", e.scope, e.applies_to AS "appliesTo",
  e.origin_call_id AS "originCallId", e.proven_at AS "provenAt",
  e.created_at AS "createdAt", e.updated_at AS "updatedAt", e.deleted_at AS "deletedAt"`;
