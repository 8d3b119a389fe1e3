import type { Outcome } from '../../../../libs/statistics/index.js';
import { EnumField } from '../../../platform/http/dto/fields.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { OUTCOMES } from '../../runs/runs.service.js';

export class ListCallsQuery extends PageQuery {
  @EnumField(OUTCOMES, { description: 'Only calls with this outcome', optional: true })
  outcome?: Outcome;
}
