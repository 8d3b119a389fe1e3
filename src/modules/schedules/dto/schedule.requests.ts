import { ApiProperty, OmitType, PartialType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  BooleanField,
  checked,
  IntegerField,
  MAX_LENGTH,
  StringField,
  UrlField,
} from '../../../platform/http/dto/fields.js';
import { StartRunRequest } from '../../starts/dto/start-run.requests.js';

/** What a schedule starts. */
export class ScheduledRun extends OmitType(StartRunRequest, ['dryRun'] as const) {}

export const scheduleFields = {
  name: { description: 'Display name', example: 'Every night', minLength: 1, maxLength: MAX_LENGTH.name },
  cron: {
    description:
      'When it is due: minute, hour, day of the month, month and day of the week (0 and 7 are Sunday), of numbers, names and `* , - /`. At least 5 minutes must be between two runs',
    example: '0 2 * * *',
    maxLength: MAX_LENGTH.name,
  },
  timeZone: { description: 'IANA time zone of `cron`', example: 'Europe/Berlin', maxLength: MAX_LENGTH.name },
  run: {
    description: 'The body of the request that starts a run, without `dryRun`; at most 64 KiB',
    example: { name: 'Nightly', repeat: 3, concurrency: 5 },
  },
  enabled: { description: 'Whether runs are started; false pauses it', example: true },
  resetOnVersion: {
    description: 'Whether a run with another `agentVersion` ends an alarm and begins a new reference',
    example: false,
  },
  maxPaidSecondsPerDay: {
    description:
      'The most seconds that the platform of the agent may be able to bill for the runs of one day in `timeZone`; a run beyond it is refused. Null for no limit',
    example: null,
    minimum: 1,
    maximum: 2_147_483_647,
    nullable: true,
  },
  heartbeatUrl: {
    description:
      'Address that gets a GET after each run that has completed or failed, so that a monitor elsewhere notices when the service itself is down. A VIEWER is shown its host only',
    example: 'https://example.com/ping',
    nullable: true,
  },
} as const;

export class CreateScheduleRequest {
  @StringField(scheduleFields.name)
  name: string;

  @StringField(scheduleFields.cron)
  cron: string;

  @StringField(scheduleFields.timeZone)
  timeZone: string;

  // Its fields are checked by `ScheduledRunPipe`, which knows their unknown names, too.
  @ApiProperty({ type: ScheduledRun, ...scheduleFields.run })
  @Transform(({ obj, key }: { obj: Readonly<Record<string, unknown>>; key: string }) => obj[key])
  @checked('object', (value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'must be an object',
  )
  run: ScheduledRun;

  @BooleanField({ ...scheduleFields.enabled, optional: true, default: true })
  enabled?: boolean;

  @BooleanField({ ...scheduleFields.resetOnVersion, optional: true, default: false })
  resetOnVersion?: boolean;

  @IntegerField({ ...scheduleFields.maxPaidSecondsPerDay, optional: true, default: null })
  maxPaidSecondsPerDay?: number | null;

  @UrlField({ ...scheduleFields.heartbeatUrl, optional: true, default: null })
  heartbeatUrl?: string | null;
}

/** A partial update; `run` is replaced as a whole. */
export class UpdateScheduleRequest extends PartialType(CreateScheduleRequest, { skipNullProperties: false }) {}
