import { EXAMPLE_ID } from '../../../platform/http/dto/example-ids.js';
import { checked, EnumField, MAX_LENGTH, QueryIntegerField, StringField } from '../../../platform/http/dto/fields.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { RUN_ORIGINS, RUN_STATUSES, type RunOrigin, type RunStatus } from '../run.entity.js';

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export class ReadRunQuery {
  @QueryIntegerField({
    description: 'Seconds to wait for the run to end before responding',
    minimum: 1,
    maximum: 60,
    optional: true,
  })
  wait?: number;
}

export class ListRunsQuery extends PageQuery {
  @EnumField(RUN_STATUSES, { description: 'Only runs with this status', optional: true })
  status?: RunStatus;

  @EnumField(RUN_ORIGINS, {
    description: 'Only runs with calls of this origin; without it, all but those of `production`',
    optional: true,
  })
  origin?: RunOrigin;

  @StringField({
    description: 'Only runs of this schedule, which may be deleted',
    example: EXAMPLE_ID.schedule,
    format: 'uuid',
    maxLength: MAX_LENGTH.identifier,
    pattern: UUID,
    optional: true,
  })
  @checked('uuid', (value) =>
    typeof value === 'string' && UUID.test(value) ? undefined : 'must be the id of a schedule',
  )
  scheduleId?: string;
}
