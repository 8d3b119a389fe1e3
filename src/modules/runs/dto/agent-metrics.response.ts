import { ApiProperty } from '@nestjs/swagger';
import type { Interval, LatencyMeasures } from '../../../../libs/simulation/index.js';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import { RUN_STATUSES, type RunStatus } from '../run.entity.js';
import { refTo } from './call-schemas.js';

const count = (description: string) => IntegerField({ description, example: 12, minimum: 0 });
const score = { minimum: 0, maximum: 100, example: 92.5 };

export class RunFigures {
  @count('Runs that ended')
  total: number;

  @count('With their gate met')
  completed: number;

  @count('With their gate not met')
  failed: number;

  @count('Ended by a person')
  cancelled: number;
}

export class CallFigures {
  @count('Met everything required')
  passed: number;

  @count("Did not, by the agent's fault")
  failed: number;

  @count('The simulated caller broke its role')
  invalid: number;

  @count('Infrastructure did not work')
  error: number;
}

export class ScorePoint {
  @IdField({ kind: 'run', description: 'Run' })
  runId: string;

  @StringField({ description: 'Its name', example: 'Nightly', maxLength: MAX_LENGTH.name })
  name: string;

  @EnumField(RUN_STATUSES, { description: 'How it ended', example: 'COMPLETED' })
  status: RunStatus;

  @NumberField({ description: 'Its score', ...score })
  score: number;

  @TimestampField({ description: 'When it ended' })
  endedAt: string;
}

export class PassRateInterval implements Interval {
  @NumberField({ description: 'Lower bound', example: 0.84, minimum: 0, maximum: 1 })
  low: number;

  @NumberField({ description: 'Upper bound', example: 0.99, minimum: 0, maximum: 1 })
  high: number;
}

export class EvaluationFigures {
  @IdField({ kind: 'evaluation', description: 'Evaluation' })
  evaluationId: string;

  @StringField({ description: 'Its latest name', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  name: string;

  @count('Counted calls')
  counted: number;

  @count('Of which passed')
  passed: number;

  @NumberField({ description: 'Share of counted calls that passed', example: 0.95, minimum: 0, maximum: 1 })
  passRate: number;

  @ApiProperty({ type: PassRateInterval, description: '95 % confidence interval of the pass rate (Wilson)' })
  passRateInterval: PassRateInterval;

  @BooleanField({ description: 'Whether it passed and failed within one run', example: false })
  isFlaky: boolean;
}

/** What the runs of an agent came to over time. */
export class AgentMetrics {
  @TimestampField({ description: 'Runs that ended at this time or later' })
  from: string;

  @TimestampField({ description: 'and before this time' })
  to: string;

  @ApiProperty({ type: RunFigures, description: 'Runs' })
  runs: RunFigures;

  @ApiProperty({ type: CallFigures, description: 'Calls of these runs' })
  calls: CallFigures;

  @NumberField({ description: 'Mean score of the calls that count; null without any', nullable: true, ...score })
  score: number | null;

  @ApiProperty({
    type: [ScorePoint],
    description: 'Score over time: a point for each run, oldest first; the latest 1,000',
  })
  scores: ScorePoint[];

  @SchemaField({ ...refTo('LatencyMeasures') }, true)
  latency: LatencyMeasures;

  @ApiProperty({ type: [EvaluationFigures], description: 'Pass rate of each evaluation, by name' })
  evaluations: EvaluationFigures[];

  @ApiProperty({ type: [String], description: 'Identifiers of the flaky ones', example: [] })
  flakyEvaluationIds: string[];
}
