import { ApiProperty, PickType } from '@nestjs/swagger';
import { CASE_STATES, type CaseState, type LatencyMeasures } from '../../../../libs/statistics/index.js';
import {
  EnumField,
  IdField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import { refTo } from '../../calls/dto/call-schemas.js';
import { CallCounts } from '../../runs/dto/run.responses.js';

/** Calls of a case in an ended run by outcome. */
export class CaseOutcomes extends PickType(CallCounts, ['passed', 'failed', 'invalid', 'error'] as const) {}

/** How a case ended in a run. */
export class CaseResult {
  @IdField({ kind: 'run', description: 'Run; it may have been deleted since' })
  runId: string;

  @IdField({
    kind: 'call',
    description: 'Its call that shows the outcome best, a failed one if there is any; null once the run was deleted',
    nullable: true,
  })
  callId: string | null;

  @StringField({
    description: "Identity of the case: the evaluation's id and, with variables, the hash of the row",
    example: '4f0d7a86-5b1e-4c39-9d27-61c8e0b3a5f2',
    maxLength: 64,
  })
  caseKey: string;

  @StringField({
    description: "The evaluation's key then",
    example: 'books-a-table',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  key: string | null;

  @StringField({
    description: "The evaluation's name then and, with variables, their values",
    example: 'Books a table for four',
    maxLength: MAX_LENGTH.text,
  })
  name: string;

  @TimestampField({ description: 'When the run ended' })
  endedAt: string;

  @StringField({
    description: 'Version of the agent, that of the run',
    example: 'a1b2c3d',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  agentVersion: string | null;

  @IdField({
    kind: 'schedule',
    description: 'The schedule that started the run, which may be deleted; null for other runs',
    nullable: true,
  })
  scheduleId: string | null;

  @EnumField(CASE_STATES, {
    description: '`flaky`: some of its counted calls passed, others failed; `not_judged`: none was counted',
    example: 'flaky',
  })
  state: CaseState;

  @ApiProperty({ type: CaseOutcomes, description: 'Its calls by outcome' })
  outcomes: CaseOutcomes;

  @NumberField({
    description: 'Share of the counted calls that passed; null without one',
    example: 0.917,
    minimum: 0,
    maximum: 1,
    nullable: true,
  })
  passRate: number | null;

  @SchemaField(
    { ...refTo('LatencyMeasures'), description: 'Over the median response latencies of the counted calls' },
    true,
  )
  latency: LatencyMeasures;
}
