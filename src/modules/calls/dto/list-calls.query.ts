import type { Outcome } from '../../../../libs/statistics/index.js';
import { EnumField, StringField } from '../../../platform/http/dto/fields.js';
import { MomentField } from '../../../platform/http/dto/moment.field.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { OUTCOMES, RUN_ORIGINS, type RunOrigin } from '../../runs/runs.service.js';

export class ListCallsQuery extends PageQuery {
  @EnumField(OUTCOMES, { description: 'Only calls with this outcome', optional: true })
  outcome?: Outcome;
}

export class AgentCallsQuery extends ListCallsQuery {
  @EnumField(RUN_ORIGINS, {
    description: 'Only calls of tests, imported calls, or imported calls of `production`',
    optional: true,
  })
  origin?: RunOrigin;

  @EnumField(['true', 'false'], {
    description: 'Only calls that were fetched from the platform of the agent, or only others',
    optional: true,
  })
  fetched?: 'true' | 'false';

  @MomentField('Only calls that began at or after this time', '2026-11-01')
  from?: string;

  @StringField({
    description: 'Only the call with this name where it was recorded',
    minLength: 1,
    maxLength: 255,
    example: 'CA5ef8732a3c49700934481addd5ce1659',
    optional: true,
  })
  externalId?: string;
}
