import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import {
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/fields.js';
import { RUN_LABELS, RUN_STATUSES, type RunLabel, type RunStatus } from '../run.entity.js';

/** A run as it is answered (contract, "Run"). */
export class Run {
  @EnumField(RUN_LABELS, { description: 'Label of the run', example: 'READ' })
  label: RunLabel;

  @IdField({ kind: 'run', description: 'Identifier' })
  id: string;

  @StringField({ description: 'Name for people', example: 'Nightly', maxLength: MAX_LENGTH.name })
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

/** What a run came to (contract, "Run metrics"). */
export class RunMetrics {
  @EnumField(RUN_STATUSES, {
    description: 'State of the run; `FAILED` when its gate was not met or it could not be carried out',
    example: 'COMPLETED',
  })
  status: RunStatus;

  @NumberField({
    description: 'Mean score of the calls that count; 0 while none has ended',
    example: 92.5,
    minimum: 0,
    maximum: 100,
  })
  score: number;

  @IntegerField({ description: 'Calls planned, whatever their state', example: 12, minimum: 0 })
  totalCalls: number;
}

/** Calls of a run by what became of them. */
export class CallCounts {
  @IntegerField({ description: 'Met everything required', example: 11, minimum: 0 })
  passed: number;

  @IntegerField({ description: "Did not, by the agent's fault", example: 1, minimum: 0 })
  failed: number;

  @IntegerField({ description: 'The simulated caller broke its role; not counted', example: 0, minimum: 0 })
  invalid: number;

  @IntegerField({ description: 'Infrastructure did not work; not counted', example: 0, minimum: 0 })
  error: number;

  @IntegerField({ description: 'Not carried out, because the run was cancelled', example: 0, minimum: 0 })
  cancelled: number;

  @IntegerField({ description: 'Still to be carried out, or under way', example: 0, minimum: 0 })
  pending: number;
}

/** A run with all that is known of it. */
export class RunDetails extends IntersectionType(Run, RunMetrics) {
  @IntegerField({ description: 'Calls of each evaluation', example: 3, minimum: 1, maximum: 50 })
  repeat: number;

  @IntegerField({ description: 'Most calls of the agent at once', example: 5, minimum: 1, maximum: 100 })
  concurrency: number;

  @NumberField({
    description: 'Score that the run must reach; null asks for none',
    example: 80,
    minimum: 0,
    maximum: 100,
    nullable: true,
  })
  minimumScore: number | null;

  @TimestampField({ description: 'When its first call began', nullable: true })
  startedAt: string | null;

  @TimestampField({ description: 'When it ended', nullable: true })
  endedAt: string | null;

  @ApiProperty({ type: CallCounts, description: 'Calls by what became of them' })
  counts: CallCounts;

  @ApiProperty({
    type: [String],
    description: 'Why the gate is not met, each a sentence; empty otherwise',
    example: [],
  })
  reasons: string[];
}
