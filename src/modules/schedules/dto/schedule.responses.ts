import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanField,
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
  UrlField,
} from '../../../platform/http/dto/fields.js';
import { SLOT_OUTCOMES, type SlotOutcome } from '../schedule-slot.entity.js';
import { ScheduledRun, scheduleFields } from './schedule.requests.js';

/** When runs of an agent are started. */
export class Schedule {
  @IdField({ kind: 'schedule', description: 'Identifier' })
  id: string;

  @IdField({ kind: 'workspace', description: 'Workspace that it belongs to' })
  workspaceId: string;

  @IdField({ kind: 'agent', description: 'Agent under test' })
  agentId: string;

  @IdField({ kind: 'user', description: 'User that created it; its runs are refused once the user is removed' })
  createdByUserId: string;

  @StringField(scheduleFields.name)
  name: string;

  @StringField(scheduleFields.cron)
  cron: string;

  @StringField(scheduleFields.timeZone)
  timeZone: string;

  @ApiProperty({ type: ScheduledRun, ...scheduleFields.run })
  run: object;

  @BooleanField(scheduleFields.enabled)
  enabled: boolean;

  @BooleanField(scheduleFields.resetOnVersion)
  resetOnVersion: boolean;

  @IntegerField(scheduleFields.maxPaidSecondsPerDay)
  maxPaidSecondsPerDay: number | null;

  @UrlField(scheduleFields.heartbeatUrl)
  heartbeatUrl: string | null;

  @StringField({
    description: 'Why the last heartbeat failed; null if its monitor accepted it, and before the first one',
    example: null,
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  heartbeatError: string | null;

  @TimestampField({
    description:
      'When it is next due; its run starts at most 65 seconds later. Null while it or its agent is paused or deleted',
    nullable: true,
  })
  nextRunAt: string | null;

  @IdField({ kind: 'run', description: 'Its newest run; null if there is none', nullable: true })
  lastRunId: string | null;

  @TimestampField({ description: 'When it was created' })
  createdAt: string;

  @TimestampField({ description: 'When it was last changed' })
  updatedAt: string;
}

/** A schedule with what it can cost. */
export class CreatedSchedule extends Schedule {
  @IntegerField({
    description: 'The most seconds that the platform can bill for one run, as of now; null if it does not bill',
    example: null,
    minimum: 0,
    nullable: true,
  })
  maxPaidSeconds: number | null;

  @NumberField({
    description: 'The most minutes that the platform can bill in seven days, as of now; null if it does not bill',
    example: null,
    minimum: 0,
    nullable: true,
  })
  maxPaidMinutesPerWeek: number | null;
}

/** What became of a due time, or of several in a row that were missed or fell into a pause. */
export class ScheduleSlot {
  @IdField({ kind: 'scheduleSlot', description: 'Identifier' })
  id: string;

  @EnumField(SLOT_OUTCOMES, {
    description:
      '`started`; `overlap`: a run of the schedule was in progress; `disabled`: it was paused, or its agent deleted; `missed`: the service was down; `refused`: the run could not be started',
    example: 'started',
  })
  outcome: SlotOutcome;

  @TimestampField({ description: 'The first due time' })
  from: string;

  @TimestampField({ description: 'The last due time' })
  to: string;

  @IntegerField({ description: 'Number of due times', example: 1, minimum: 1 })
  count: number;

  @IdField({
    kind: 'run',
    description: 'The run that was started, which may be deleted since; else null',
    nullable: true,
  })
  runId: string | null;

  @ApiProperty({ description: 'Why it was refused, one sentence each', type: [String], example: [] })
  issues: string[];
}
