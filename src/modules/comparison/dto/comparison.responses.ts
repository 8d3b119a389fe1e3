import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { VariablesRow } from '../../../../libs/evaluation-definition/index.js';
import {
  type Change,
  CHANGES,
  type Difference,
  type Interval,
  type LatencyMeasures,
} from '../../../../libs/statistics/index.js';
import {
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import { orNull } from '../../../platform/openapi/schema-parts.js';
import type { LatencyClock } from '../../../../libs/simulation/index.js';
import type { RunStatus } from '../../runs/run.entity.js';
import { RUN_STATUSES } from '../../runs/runs.service.js';
import { AgentVariablesField, AssistantVersionField, variablesRow } from '../../runs/dto/agent-variables.field.js';
import { PassRateInterval } from './agent-metrics.response.js';
import { refTo } from '../../calls/dto/call-schemas.js';

/** Maximum length of a case's key: an id, `#` and 12 digits. */
const MAX_CASE_KEY = 64;
/** Maximum length of a case's name: an evaluation's name and its variables. */
const MAX_CASE_NAME = MAX_LENGTH.text;

/** Results of the counted calls of one side. */
export class ComparedResult {
  @IdField({ kind: 'run', description: 'Run; it may have been deleted since' })
  runId: string;

  @IdField({ kind: 'agent', description: 'Its agent' })
  agentId: string;

  @IntegerField({ description: 'Counted calls: passed and failed', example: 20, minimum: 0 })
  counted: number;

  @IntegerField({ description: 'Calls that passed', example: 19, minimum: 0 })
  passed: number;

  @NumberField({
    description: 'Share of the counted calls that passed; null without one',
    example: 0.95,
    minimum: 0,
    maximum: 1,
    nullable: true,
  })
  passRate: number | null;

  @SchemaField(
    {
      ...orNull({ $ref: getSchemaPath(PassRateInterval) }),
      description: '95 % confidence interval of the pass rate (Wilson)',
      examples: [{ low: 0.764, high: 0.991 }],
    },
    true,
  )
  interval: Interval | null;

  @SchemaField(
    {
      ...orNull({ $ref: getSchemaPath(PassRateInterval) }),
      description: 'The same as `interval`',
      examples: [{ low: 0.764, high: 0.991 }],
    },
    true,
  )
  passRateInterval: Interval | null;

  @NumberField({
    description: 'Mean score of the counted calls; null without one',
    example: 96.5,
    minimum: 0,
    maximum: 100,
    nullable: true,
  })
  score: number | null;

  @SchemaField({ ...refTo('ComparedLatency'), description: 'Response latencies of the counted calls' }, true)
  latency: LatencyMeasures & { readonly clock: LatencyClock | null };
}

/** One of two compared runs. Pass rate: of the shared cases; score and latencies: of the whole run. */
export class ComparedRun extends ComparedResult {
  @IdField({ kind: 'run', description: 'The same as `runId`' })
  id: string;

  @StringField({ description: 'Its name', example: 'Nightly', maxLength: MAX_LENGTH.name })
  name: string;

  @StringField({
    description: "Its agent's name at its start; null if it had none",
    example: 'Bella Vista booking line',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  agentName: string | null;

  @EnumField(RUN_STATUSES, { description: 'How it ended', example: 'COMPLETED' })
  status: RunStatus;

  @StringField({
    description: 'Version of the agent as given at its start',
    example: 'a1b2c3d',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  agentVersion: string | null;

  @AgentVariablesField('Dynamic variables that the run gave to the platform of the agent')
  agentVariables: VariablesRow;

  @AssistantVersionField()
  assistantVersion: string | null;

  @TimestampField({ description: 'When it ended', nullable: true })
  endedAt: string | null;
}

export class ComparedDifference implements Difference {
  @EnumField(CHANGES, {
    description:
      'Change of the pass rate; `same` if the difference is not larger than chance, `undecided` if there are too few calls to find any difference',
    example: 'same',
  })
  change: Change;

  @NumberField({
    description:
      'One-sided p-value of the exact test in the direction of the difference, adjusted for the number of tests (Holm); null if undecided',
    example: 0.412,
    minimum: 0,
    maximum: 1,
    nullable: true,
  })
  pValue: number | null;

  @IntegerField({
    description:
      'Counted calls of a case that each of the runs needs to decide, with this number of tests; null unless undecided',
    example: null,
    minimum: 3,
    nullable: true,
  })
  callsNeeded: number | null;
}

/** A case that both runs have. */
export class ComparedCase extends ComparedDifference {
  @StringField({
    description: "Identity of the case: the evaluation's id and, with variables, the hash of the row",
    example: '4f0d7a86-5b1e-4c39-9d27-61c8e0b3a5f2',
    maxLength: MAX_CASE_KEY,
  })
  caseKey: string;

  @IdField({ kind: 'evaluation', description: 'Evaluation' })
  evaluationId: string;

  @StringField({
    description: "The evaluation's key",
    example: 'books-a-table',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  key: string | null;

  @SchemaField(
    { ...variablesRow, nullable: true, description: 'Row of variables; null without', examples: [{ people: 4 }] },
    true,
  )
  row: VariablesRow | null;

  @StringField({
    description: "The evaluation's name and, with variables, their values",
    example: 'Books a table for four',
    maxLength: MAX_CASE_NAME,
  })
  name: string;

  @ApiProperty({ type: ComparedResult, description: 'Its results in the run' })
  current: ComparedResult;

  @ApiProperty({ type: ComparedResult, description: 'Its results in the other run' })
  baseline: ComparedResult;
}

/** A run beside another one. `change`, `pValue` and `callsNeeded` are those of `overall`. */
export class RunComparison extends ComparedDifference {
  @ApiProperty({ type: ComparedDifference, description: 'All shared cases together' })
  overall: ComparedDifference;

  @ApiProperty({ type: ComparedRun, description: 'The run' })
  current: ComparedRun;

  @ApiProperty({ type: ComparedRun, description: 'The run that it is compared with, usually an earlier one' })
  baseline: ComparedRun;

  @ApiProperty({ type: [ComparedCase], description: 'The cases that both runs have, in plan order' })
  cases: ComparedCase[];

  @IntegerField({ description: 'Cases that only the run has', example: 0, minimum: 0 })
  onlyInCurrent: number;

  @IntegerField({ description: 'Cases that only the other run has', example: 0, minimum: 0 })
  onlyInBaseline: number;

  @ApiProperty({
    type: [String],
    description: 'What could not be compared, and what was not asked the same in both runs, one sentence each',
    example: [],
  })
  warnings: string[];
}
