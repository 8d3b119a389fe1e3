import { ApiProperty } from '@nestjs/swagger';
import type { Interval, LatencyMeasures } from '../../../../libs/statistics/index.js';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import type { RunStatus } from '../../runs/run.entity.js';
import { RUN_STATUSES } from '../../runs/runs.service.js';
import { refTo } from '../../calls/dto/call-schemas.js';

const count = (description: string) => IntegerField({ description, example: 12, minimum: 0 });
const score = { minimum: 0, maximum: 100, example: 92.5 };

export class RunFigures {
  @count('Runs that ended')
  total: number;

  @count('Runs with their gate met')
  completed: number;

  @count('Runs with their gate not met')
  failed: number;

  @count('Cancelled runs')
  cancelled: number;
}

export class CallFigures {
  @count('Met every required check and criterion')
  passed: number;

  @count("Failed through the agent's fault")
  failed: number;

  @count('The simulated caller broke its role')
  invalid: number;

  @count('Infrastructure failed')
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

  @StringField({ description: 'Its current name', example: 'Books a table for four', maxLength: MAX_LENGTH.name })
  name: string;

  @count('Counted calls')
  counted: number;

  @count('Calls that passed')
  passed: number;

  @NumberField({ description: 'Share of counted calls that passed', example: 0.95, minimum: 0, maximum: 1 })
  passRate: number;

  @ApiProperty({ type: PassRateInterval, description: '95 % confidence interval of the pass rate (Wilson)' })
  passRateInterval: PassRateInterval;

  @BooleanField({ description: 'Whether it both passed and failed within one run', example: false })
  isFlaky: boolean;
}

/** Results of an agent over time. */
export class AgentMetrics {
  @TimestampField({ description: 'Start of the period: runs that ended at or after this time' })
  from: string;

  @TimestampField({ description: 'End of the period: runs that ended before this time' })
  to: string;

  @ApiProperty({ type: RunFigures, description: 'Runs' })
  runs: RunFigures;

  @ApiProperty({ type: CallFigures, description: 'Calls of these runs' })
  calls: CallFigures;

  @count('Ended calls of these runs that needed a second attempt')
  retriedCalls: number;

  @NumberField({ description: 'Mean score of the counted calls; null if there are none', nullable: true, ...score })
  score: number | null;

  @ApiProperty({
    type: [ScorePoint],
    description: 'Score over time: one point per run, oldest first; the latest 1,000',
  })
  scores: ScorePoint[];

  @SchemaField({ ...refTo('LatencyMeasures') }, true)
  latency: LatencyMeasures;

  @ApiProperty({ type: [EvaluationFigures], description: 'Pass rates of the evaluations, sorted by name' })
  evaluations: EvaluationFigures[];

  @ApiProperty({ type: [String], description: 'Identifiers of flaky evaluations', example: [] })
  flakyEvaluationIds: string[];
}
