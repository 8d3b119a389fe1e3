import { ApiProperty, IntersectionType, PickType } from '@nestjs/swagger';
import type { VariablesRow } from '../../../../libs/evaluation-definition/index.js';
import {
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { AgentVariablesField, AssistantVersionField } from './agent-variables.field.js';
import { GateFields } from './gate.fields.js';
import {
  DERIVED_KINDS,
  type DerivedKind,
  RUN_LABELS,
  RUN_ORIGINS,
  RUN_STATUSES,
  type RunLabel,
  type RunOrigin,
  type RunStatus,
} from '../run.entity.js';

/** A run in responses. */
export class Run {
  @EnumField(RUN_LABELS, { description: 'Label of the run', example: 'READ' })
  label: RunLabel;

  @IdField({ kind: 'run', description: 'Identifier' })
  id: string;

  @StringField({ description: 'Display name', example: 'Nightly', maxLength: MAX_LENGTH.name })
  name: string;

  @TimestampField({ description: 'When it was started' })
  createdAt: string;

  @TimestampField({ description: 'When it last changed' })
  updatedAt: string;

  @IdField({ kind: 'user', description: 'User that started it' })
  userId: string;

  @IdField({ kind: 'workspace', description: 'Workspace that it belongs to' })
  workspaceId: string;

  @IdField({ kind: 'agent', description: 'Agent under test' })
  agentId: string;
}

/** Results of a run. */
export class RunMetrics {
  @EnumField(RUN_STATUSES, {
    description: 'Status of the run; `FAILED` if its gate was not met or it could not be executed',
    example: 'COMPLETED',
  })
  status: RunStatus;

  @NumberField({
    description: 'Mean score of the counted calls; 0 while none has ended',
    example: 92.5,
    minimum: 0,
    maximum: 100,
  })
  score: number;

  @IntegerField({ description: 'Number of planned calls, in any state', example: 12, minimum: 0 })
  totalCalls: number;
}

/** Calls of a run by outcome. */
export class CallCounts {
  @IntegerField({ description: 'Met every required check and criterion', example: 11, minimum: 0 })
  passed: number;

  @IntegerField({ description: "Failed through the agent's fault", example: 1, minimum: 0 })
  failed: number;

  @IntegerField({ description: 'The simulated caller broke its role; not counted', example: 0, minimum: 0 })
  invalid: number;

  @IntegerField({ description: 'Infrastructure failed; not counted', example: 0, minimum: 0 })
  error: number;

  @IntegerField({ description: 'Not executed because the run was cancelled', example: 0, minimum: 0 })
  cancelled: number;

  @IntegerField({ description: 'Waiting or running', example: 0, minimum: 0 })
  pending: number;

  @IntegerField({
    description: 'Ended, of provisional evaluations, whatever their outcome; not counted',
    example: 0,
    minimum: 0,
  })
  provisional: number;
}

/** A run in a list, with its outcomes. */
export class ListedRun extends Run {
  @EnumField(RUN_STATUSES, { description: 'Status of the run', example: 'COMPLETED' })
  status: RunStatus;

  @ApiProperty({ type: CallCounts, description: 'Calls by outcome' })
  outcomes: CallCounts;

  @NumberField({
    description: 'Mean score of the counted calls so far; null until a call counts',
    example: 92.5,
    minimum: 0,
    maximum: 100,
    nullable: true,
  })
  score: number | null;

  @NumberField({
    description: 'Share of the counted calls so far that passed; null until a call counts',
    example: 0.917,
    minimum: 0,
    maximum: 1,
    nullable: true,
  })
  passRate: number | null;

  @EnumField(RUN_ORIGINS, {
    description:
      'Whose calls it has: of tests, imported ones, or those of real callers; of a derived run, those of its source',
    example: 'test',
  })
  origin: RunOrigin;

  @StringField({
    description: 'Version of the agent as given at the start; in a run of a schedule without one, that of its platform',
    example: 'a1b2c3d',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  agentVersion: string | null;

  @IdField({
    kind: 'schedule',
    description: 'The schedule that started it, which may be deleted; null for other runs',
    nullable: true,
    example: null,
  })
  scheduleId: string | null;

  @TimestampField({ description: 'When it ended', nullable: true })
  endedAt: string | null;
}

/** The run whose calls a run judges again. */
export class DerivedFrom {
  @IdField({ kind: 'run', description: 'Identifier of that run; it may have been deleted since' })
  runId: string;

  @EnumField(DERIVED_KINDS, {
    description:
      '`remeasure`: times, measures, checks and outcomes are computed again from the recordings. `rejudge`: criteria are judged again',
    example: 'remeasure',
  })
  kind: DerivedKind;
}

/** Calls that the run of a day of production did not judge. A call counts once for each evaluation. */
export class LeftOut {
  @IntegerField({ description: 'Calls on which `appliesTo` is not met, or undecided', example: 31, minimum: 0 })
  notApplicable: number;

  @IntegerField({ description: 'Calls beyond the 10,000 of an evaluation', example: 0, minimum: 0 })
  overLimit: number;

  @IntegerField({ description: 'Calls whose criteria were left out beyond `maxJudgedPerDay`', example: 0, minimum: 0 })
  unjudged: number;
}

/** A telephone number that a run dials. */
export class RingingNumber {
  @StringField({ description: 'As it is dialled', example: '+390612345678', maxLength: MAX_LENGTH.identifier })
  number: string;

  @EnumField(['agent', 'evaluation'], {
    description:
      '`evaluation`: an evaluation has it as its `vendorCallPhoneNumber` in place of the address of the agent',
    example: 'agent',
  })
  of: 'agent' | 'evaluation';
}

/** Calls of a run to telephone numbers. */
export class PlannedDialling {
  @ApiProperty({ description: 'The numbers that ring, each once', type: [RingingNumber] })
  numbers: RingingNumber[];

  @IntegerField({ description: 'Calls to them', example: 12, minimum: 1 })
  calls: number;

  @IntegerField({
    description: 'The most minutes of these calls: each at its `maxDurationSeconds`, in all paid attempts',
    example: 48,
    minimum: 1,
  })
  maxMinutes: number;
}

/** What a plan and a run say of it. */
export const DiallingField = () =>
  ApiProperty({
    type: PlannedDialling,
    nullable: true,
    description: 'The telephone numbers that ring, over `sip`; null without any',
    example: null,
  });

/** A run with its settings, progress and results. */
export class RunDetails extends IntersectionType(
  Run,
  RunMetrics,
  GateFields,
  PickType(ListedRun, ['origin', 'agentVersion', 'scheduleId', 'endedAt'] as const),
) {
  @AgentVariablesField('Dynamic variables that the run gave to the platform of the agent')
  agentVariables: VariablesRow;

  @AssistantVersionField()
  assistantVersion: string | null;

  @ApiProperty({
    type: DerivedFrom,
    nullable: true,
    description: 'The run whose recorded calls this run judges again; null for a run that called the agent',
    example: null,
  })
  derivedFrom: DerivedFrom | null;

  @StringField({
    description: 'The UTC day whose production calls it has; null for other runs',
    example: null,
    format: 'date',
    maxLength: 10,
    nullable: true,
  })
  day: string | null;

  @ApiProperty({
    type: LeftOut,
    nullable: true,
    description: 'What the run of a day of production left out; null for other runs',
    example: null,
  })
  production: LeftOut | null;

  @IntegerField({
    description: 'Calls per evaluation; of a day of production the most',
    example: 3,
    minimum: 1,
    maximum: 10_000,
  })
  repeat: number;

  @IntegerField({
    description: 'Maximum number of concurrent calls to the agent',
    example: 5,
    minimum: 1,
    maximum: 100,
  })
  concurrency: number;

  @IntegerField({ description: 'Attempts at a call that its platform may bill', example: 2, minimum: 1, maximum: 3 })
  maxPaidAttempts: number;

  @NumberField({
    description:
      'Seconds that the platform bills for all attempts at its calls so far, by its own figures where it has them, else as measured; null if it does not bill',
    example: null,
    minimum: 0,
    nullable: true,
  })
  paidSeconds: number | null;

  @IntegerField({
    description:
      "Calls that waited for a line, because their platform carried as many calls of the account as it may, or for a number at which the agent calls. If there are any, latencies may be the account's, not the agent's",
    example: 0,
    minimum: 0,
  })
  callsThatWaited: number;

  @DiallingField()
  dialling: PlannedDialling | null;

  @TimestampField({ description: 'When its first call started', nullable: true })
  startedAt: string | null;

  @ApiProperty({ type: CallCounts, description: 'Calls by outcome' })
  counts: CallCounts;

  @IntegerField({
    description:
      'Exit code of `vat`: 0 the gate is met, 1 the agent does not meet it, 2 not everything could be tested, or the run was cancelled; null until the run has ended',
    example: 0,
    minimum: 0,
    maximum: 2,
    nullable: true,
  })
  exitCode: 0 | 1 | 2 | null;

  @IntegerField({
    description:
      'Calls that needed a second attempt, because the first one ended as `error` or `invalid`. A real caller has no second attempt',
    example: 0,
    minimum: 0,
  })
  retriedCalls: number;

  @ApiProperty({
    type: [String],
    description: 'Why the gate is not met, one sentence each; empty otherwise',
    example: [],
  })
  reasons: string[];

  @ApiProperty({
    type: [String],
    description:
      'What the gate could not compare with the run of `notWorseThan`, and what a derived run leaves out, one sentence each',
    example: [],
  })
  warnings: string[];
}
