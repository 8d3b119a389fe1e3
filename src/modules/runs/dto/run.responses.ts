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
    description: 'State of the run; `FAILED` when its gate was not met',
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
