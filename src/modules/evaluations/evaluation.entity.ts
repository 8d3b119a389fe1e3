import { Check as Constraint, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { oneOf } from '../../platform/database/checks.js';
import { SoftDeletedRow } from '../../platform/database/timestamps.js';
import { SCOPES, type Scope, type NestedCheck } from '../../../libs/evaluation-definition/index.js';
import type {
  Check,
  Criterion,
  LineConditions,
  ScriptStep,
  HistoryLine,
  ToolResult,
  VariablesRow,
} from '../../../libs/evaluation-definition/index.js';

/** A test scenario of an agent. */
@Entity('evaluations')
// On (agent_id, coalesce(key, id::text)), which TypeORM cannot express: the id of an evaluation without a key is its key.
@Index('evaluations_key_key', { synchronize: false })
@Constraint('evaluations_max_turns_check', 'max_turns BETWEEN 1 AND 200')
@Constraint('evaluations_turn_end_ms_check', 'turn_end_ms BETWEEN 200 AND 3000')
@Constraint('evaluations_max_duration_seconds_check', 'max_duration_seconds BETWEEN 1 AND 3600')
@Constraint('evaluations_scope_check', oneOf('scope', SCOPES))
@Index('evaluations_list_idx', ['agentId', 'createdAt', 'id'], { where: 'deleted_at IS NULL' })
@Index('evaluations_agent_idx', ['agentId'])
export class EvaluationEntity extends SoftDeletedRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'evaluations_pkey' })
  id: string;

  @ForeignKey('WorkspaceEntity', { name: 'evaluations_workspace_id_fkey' })
  @Column({ name: 'workspace_id', type: 'uuid' })
  workspaceId: string;

  @ForeignKey('AgentEntity', { name: 'evaluations_agent_id_fkey' })
  @Column({ name: 'agent_id', type: 'uuid' })
  agentId: string;

  @ForeignKey('PersonalityEntity', { name: 'evaluations_personality_id_fkey' })
  @Column({ name: 'personality_id', type: 'uuid' })
  personalityId: string;

  @ForeignKey('UserEntity', { name: 'evaluations_created_by_user_id_fkey' })
  @Column({ name: 'created_by_user_id', type: 'uuid' })
  createdByUserId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'scenario_text', type: 'text' })
  scenarioText: string;

  @Column({ name: 'general_instructions', type: 'text' })
  generalInstructions: string;

  @Column({ name: 'vendor_call_phone_number', type: 'text' })
  vendorCallPhoneNumber: string;

  @Column({ type: 'text', nullable: true })
  key: string | null;

  @Column({ type: 'boolean' })
  critical: boolean;

  @Column({ type: 'text', array: true })
  tags: string[];

  @Column({ type: 'jsonb' })
  script: ScriptStep[];

  @Column({ type: 'jsonb' })
  checks: Check[];

  @Column({ type: 'jsonb' })
  criteria: Criterion[];

  /** One object per case; empty without variables. */
  @Column({ type: 'jsonb', default: () => `'[]'` })
  variables: VariablesRow[];

  @Column({ type: 'jsonb', default: () => `'[]'` })
  history: HistoryLine[];

  @Column({ name: 'tool_results', type: 'jsonb', default: () => `'[]'` })
  toolResults: ToolResult[];

  /** BCP 47; null for the agent's. */
  @Column({ type: 'text', nullable: true })
  language: string | null;

  /** IANA; null for that of the language's main country. */
  @Column({ type: 'text', nullable: true })
  timezone: string | null;

  @Column({ name: 'max_turns', type: 'integer' })
  maxTurns: number;

  @Column({ name: 'max_duration_seconds', type: 'integer' })
  maxDurationSeconds: number;

  /** Of voice calls; empty for a good line. */
  @Column({ type: 'jsonb', default: () => `'{}'` })
  conditions: LineConditions;

  /** Silence that ends a turn of the agent, in milliseconds. */
  @Column({ name: 'turn_end_ms', type: 'integer', default: 700 })
  turnEndMs: number;

  /** Of voice calls of callers without a script. */
  @Column({ type: 'boolean', default: false })
  fillers: boolean;

  /** Dynamic variables for the agent's platform. */
  @Column({ name: 'agent_variables', type: 'jsonb', default: () => `'{}'` })
  agentVariables: VariablesRow;

  /** Whose calls it judges. */
  @Column({ type: 'text', default: 'tests' })
  scope: Scope;

  /** Which production calls it judges; null for all. */
  @Column({ name: 'applies_to', type: 'jsonb', nullable: true })
  appliesTo: NestedCheck | null;

  /** The call that it was made from, which may be deleted; null for others. */
  @Column({ name: 'origin_call_id', type: 'uuid', nullable: true })
  originCallId: string | null;

  /** When it stopped being provisional. Null for an evaluation that was not made from a call. */
  @Column({ name: 'proven_at', type: 'timestamptz', precision: 3, nullable: true })
  provenAt: Date | null;
}
