import { ApiProperty } from '@nestjs/swagger';
import { LIMITS, type VariablesRow } from '../../../../libs/evaluation-definition/index.js';
import { codePoints, textViolation } from '../../../../libs/json-input/index.js';
import { EXAMPLE_ID } from '../../../platform/http/dto/example-ids.js';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  StringField,
} from '../../../platform/http/dto/fields.js';
import { isUuid } from '../../../platform/database/ids.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import type { Medium } from '../../runs/call.entity.js';
import { MEDIA } from '../../runs/runs.service.js';
import { AgentVariablesField, variablesRow } from '../../runs/dto/agent-variables.field.js';
import { DiallingField, PlannedDialling } from '../../runs/dto/run.responses.js';
import { GateFields, GateRequest } from '../../runs/dto/gate.fields.js';
import { SelectionField } from './selection.field.js';

const MAX_SELECTED = 5_000;

const keyViolation = (key: string): string | undefined =>
  key === '' || codePoints(key) > LIMITS.key ? `must have 1 to ${LIMITS.key} characters` : textViolation(key);

/** Which evaluations to run, how often, and with which gate. */
export class StartRunRequest extends GateRequest {
  @StringField({
    description: 'Display name; defaults to the start time',
    example: 'Nightly',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
    optional: true,
  })
  name?: string;

  @SelectionField({
    description: 'Run only these evaluations of the agent; defaults to all',
    example: [EXAMPLE_ID.evaluation],
    maxItems: MAX_SELECTED,
    items: { format: 'uuid', maxLength: MAX_LENGTH.identifier },
    violation: (id) => (isUuid(id) ? undefined : 'must be the id of an evaluation; evaluationKeys takes keys'),
  })
  evaluationIds?: string[];

  @SelectionField({
    description: 'Run only the evaluations of the agent with these keys; cannot be combined with `evaluationIds`',
    example: ['books-a-table'],
    maxItems: MAX_SELECTED,
    items: { minLength: 1, maxLength: LIMITS.key },
    violation: keyViolation,
  })
  evaluationKeys?: string[];

  @SelectionField({
    description:
      'Run only evaluations with at least one of these tags; cannot be combined with `evaluationIds` or `evaluationKeys`',
    example: ['booking'],
    maxItems: LIMITS.tags,
    items: { minLength: 1, maxLength: LIMITS.tag },
    violation: (tag) =>
      tag === '' || codePoints(tag) > LIMITS.tag ? `must have 1 to ${LIMITS.tag} characters` : textViolation(tag),
  })
  tags?: string[];

  @IntegerField({
    description: 'Calls per evaluation. More than one reveals flaky evaluations',
    example: 3,
    minimum: 1,
    maximum: 50,
    optional: true,
    default: 1,
  })
  repeat?: number;

  @IntegerField({
    description: 'Maximum number of concurrent calls to the agent, across all of its runs',
    example: 5,
    minimum: 1,
    maximum: 100,
    optional: true,
    default: 5,
  })
  concurrency?: number;

  @IntegerField({
    description:
      'Attempts at a call that its platform has answered, and may bill: after that many, the call is not tried again. Without effect over protocols that do not bill',
    example: 2,
    minimum: 1,
    maximum: 3,
    optional: true,
    default: 2,
  })
  maxPaidAttempts?: number;

  @EnumField(MEDIA, {
    description:
      "Only with a protocol for such calls: refused with 409 if the agent has none; defaults to that of the agent's protocol",
    example: 'text',
    optional: true,
  })
  medium?: Medium;

  @StringField({
    description:
      'Version of the agent under test, for instance a commit; shown in results and comparisons. In a schedule without it, the one that the platform of the agent reports',
    example: 'a1b2c3d',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
    optional: true,
    nullable: true,
    default: null,
  })
  agentVersion?: string | null;

  @AgentVariablesField(
    'Dynamic variables for the platform of the agent, for instance the name of the customer: at most 50 strings, numbers and booleans, above those of the `variables` of its connection. They are shown in results: no secrets',
    { optional: true },
  )
  agentVariables?: VariablesRow;

  @StringField({
    description:
      "Version of the agent that its platform is asked for, in the platform's own terms; by default the one that it has published",
    example: 'branch-7',
    minLength: 1,
    maxLength: MAX_LENGTH.name,
    optional: true,
    nullable: true,
    default: null,
  })
  assistantVersion?: string | null;

  @BooleanField({
    description: 'With `true` nothing is started; the response is the plan',
    example: false,
    optional: true,
    default: false,
  })
  dryRun?: boolean;
}

/** A row of variables of an evaluation, or the evaluation itself. */
export class PlannedCase {
  @StringField({
    description: 'Identity across runs, as `caseKey` of its calls',
    example: `${EXAMPLE_ID.evaluation}#6f1ed002ab55`,
    maxLength: 255,
  })
  key: string;

  @SchemaField(
    { ...variablesRow, nullable: true, description: 'The row; null without', examples: [{ people: 4 }] },
    true,
  )
  variables: VariablesRow | null;
}

/** One evaluation of a plan. */
export class PlannedEvaluation {
  @IdField({ kind: 'evaluation', description: 'Evaluation' })
  id: string;

  @StringField({ description: 'Its key', example: 'books-a-table', maxLength: MAX_LENGTH.name, nullable: true })
  key: string | null;

  @StringField({ description: 'Its name', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  name: string;

  @BooleanField({ description: 'Whether every call of it must pass', example: true })
  critical: boolean;

  @BooleanField({ description: 'Whether it is provisional: its calls are in no condition of the gate', example: false })
  provisional: boolean;

  @ApiProperty({ description: 'Its tags', type: [String], example: ['booking'] })
  tags: string[];

  @IdField({ kind: 'personality', description: 'Personality of the caller' })
  personalityId: string;

  @EnumField(['scripted', 'generated'], {
    description: 'How the caller is played: from the script, or by a language model',
    example: 'scripted',
  })
  caller: 'scripted' | 'generated';

  @IntegerField({ description: 'Number of calls', example: 3, minimum: 1 })
  calls: number;

  @ApiProperty({ description: 'Its cases: one per row of variables, in order; otherwise one', type: [PlannedCase] })
  cases: PlannedCase[];

  @ApiProperty({
    description: 'What the caller does and what is checked, in words, one sentence each; variables are not replaced',
    type: [String],
    example: ['The caller says "A table for four, please."', 'Check: Agent says "booked".'],
  })
  explanation: string[];
}

/** The calls that a run would make. */
export class RunPlan extends GateFields {
  @IdField({ kind: 'agent', description: 'Agent under test' })
  agentId: string;

  @StringField({ description: 'Display name', example: 'Nightly', maxLength: MAX_LENGTH.name })
  name: string;

  @StringField({ description: 'Version of the agent', example: 'a1b2c3d', maxLength: MAX_LENGTH.name, nullable: true })
  agentVersion: string | null;

  @AgentVariablesField('Dynamic variables for the platform of the agent')
  agentVariables: VariablesRow;

  @StringField({
    description: 'Version of the agent that its platform is asked for',
    example: null,
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  assistantVersion: string | null;

  @StringField({
    description: 'Protocol of the calls',
    example: 'chat-completions',
    maxLength: MAX_LENGTH.name,
  })
  protocol: string;

  @EnumField(MEDIA, { description: 'Medium of that protocol', example: 'text' })
  medium: Medium;

  @IntegerField({ description: 'Calls per case', example: 3, minimum: 1, maximum: 50 })
  repeat: number;

  @IntegerField({
    description: 'Maximum number of concurrent calls to the agent',
    example: 5,
    minimum: 1,
    maximum: 100,
  })
  concurrency: number;

  @IntegerField({ description: 'Total number of calls', example: 3, minimum: 1 })
  totalCalls: number;

  @IntegerField({ description: 'Attempts at a call that its platform may bill', example: 2, minimum: 1, maximum: 3 })
  maxPaidAttempts: number;

  @IntegerField({
    description:
      'The most seconds that the platform can bill for the run: every call at its `maxDurationSeconds`, in all paid attempts; null if it does not bill',
    example: null,
    minimum: 0,
    nullable: true,
  })
  maxPaidSeconds: number | null;

  @DiallingField()
  dialling: PlannedDialling | null;

  @ApiProperty({ description: 'The evaluations, in order', type: [PlannedEvaluation] })
  evaluations: PlannedEvaluation[];

  @ApiProperty({ description: 'Weaknesses of the plan, one sentence each', type: [String], example: [] })
  warnings: string[];
}

export class RerunQuery {
  @EnumField(['failed'], {
    description: 'Only cases with a call that did not pass',
    optional: true,
  })
  only?: 'failed';

  @EnumField(['true', 'false'], {
    description: 'With `true` nothing is started; the response is the plan',
    optional: true,
    default: 'false',
  })
  dryRun?: 'true' | 'false';
}
