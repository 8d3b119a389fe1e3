import { ApiProperty, PickType } from '@nestjs/swagger';
import { MEASURES, type Measure } from '../../../../libs/statistics/index.js';
import {
  EnumField,
  IdField,
  IntegerField,
  MAX_LENGTH,
  NumberField,
  StringField,
  TimestampField,
} from '../../../platform/http/dto/fields.js';
import { CaseResult } from '../../case-history/dto/case-history.response.js';
import { ALARM_STATUSES, type AlarmStatus } from '../alarm.entity.js';

/** Counted calls, and the share that an alarm is about. */
export class AlarmShare {
  @IntegerField({ description: 'Counted calls; of slow ones, those with a latency', example: 40, minimum: 0 })
  counted: number;

  @NumberField({
    description: 'The share of them that passed; with `measure` `slow`, the share of slow ones',
    example: 0.675,
    minimum: 0,
    maximum: 1,
  })
  share: number;
}

export class AlarmedCase extends PickType(CaseResult, ['caseKey', 'name'] as const) {
  @ApiProperty({ type: AlarmShare, description: 'In the looks of the alarm' })
  now: AlarmShare;

  @ApiProperty({ type: AlarmShare, description: 'In the looks before' })
  before: AlarmShare;

  @NumberField({
    description: 'Calls whose median latency is above it, in milliseconds, are slow; null with `measure` `passed`',
    example: null,
    nullable: true,
  })
  thresholdMs: number | null;
}

export class Alarm {
  @IdField({ kind: 'alarm', description: 'Identifier' })
  id: string;

  @IdField({ kind: 'workspace', description: 'Workspace' })
  workspaceId: string;

  @IdField({ kind: 'agent', description: 'Agent' })
  agentId: string;

  @IdField({
    kind: 'schedule',
    description: 'The schedule whose runs fell; it may be deleted. Null for the days of production calls',
    nullable: true,
  })
  scheduleId: string | null;

  @StringField({
    description: 'Its name then; `Production` for days of production calls',
    example: 'Every night',
    maxLength: MAX_LENGTH.name,
  })
  scheduleName: string;

  @EnumField(ALARM_STATUSES, {
    description:
      'Whether it is open, or how it ended: later looks were as good as before, it was accepted, the agent had a new version and the schedule has `resetOnVersion`, its cases are in no run any more, or the schedule was deleted',
    example: 'open',
  })
  status: AlarmStatus;

  @EnumField(MEASURES, { description: 'Fewer calls passed, or more calls were slow', example: 'passed' })
  measure: Measure;

  @StringField({
    description: 'The case that fell alone; null for all cases together',
    example: null,
    maxLength: 64,
    nullable: true,
  })
  caseKey: string | null;

  @StringField({ description: 'Its name', example: null, maxLength: MAX_LENGTH.text, nullable: true })
  caseName: string | null;

  @TimestampField({ description: 'When the first run that belongs to the fall ended' })
  since: string;

  @IdField({ kind: 'run', description: 'That run; it may have been deleted since' })
  sinceRunId: string;

  @IntegerField({ description: 'Looks of the fall when it was found', example: 2, minimum: 2 })
  looks: number;

  @NumberField({
    description: 'Chance of such a difference if nothing changed, corrected for how much nights differ',
    example: 0.00002,
    minimum: 0,
    maximum: 1,
  })
  pValue: number;

  @ApiProperty({ type: AlarmShare, description: 'In these looks' })
  now: AlarmShare;

  @ApiProperty({ type: AlarmShare, description: 'In those before' })
  before: AlarmShare;

  @ApiProperty({ type: [AlarmedCase], description: 'The three cases that fell most', maxItems: 3 })
  worstCases: AlarmedCase[];

  @TimestampField({ description: 'When the last run before the alarm ended' })
  foundAt: string;

  @TimestampField({ description: 'When the alarm ended; null while it is open', nullable: true, example: null })
  endedAt: string | null;

  @TimestampField({ description: 'When it was first sent; null while it is muted', nullable: true })
  sentAt: string | null;

  @TimestampField({ description: 'When it was raised' })
  createdAt: string;
}

export class AlarmMute {
  @TimestampField({ description: 'Until when alarms are recorded and not sent; null if they are sent', nullable: true })
  until: string | null;

  @StringField({ description: 'Why', example: 'The booking backend is being moved', maxLength: MAX_LENGTH.name })
  reason: string;
}
