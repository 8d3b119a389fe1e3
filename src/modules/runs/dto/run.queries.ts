import { EnumField, QueryIdField, QueryIntegerField } from '../../../platform/http/dto/fields.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { RUN_ORIGINS, RUN_STATUSES, type RunOrigin, type RunStatus } from '../run.entity.js';

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

  @QueryIdField({ kind: 'schedule', description: 'Only runs of this schedule, which may be deleted' })
  scheduleId?: string;
}
