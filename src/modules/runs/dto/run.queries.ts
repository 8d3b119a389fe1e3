import { EnumField, QueryIntegerField } from '../../../platform/http/dto/fields.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { RUN_STATUSES, type RunStatus } from '../run.entity.js';

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
}
