import type { Outcome } from '../../../../libs/statistics/index.js';
import { EnumField, StringField } from '../../../platform/http/dto/fields.js';
import { MomentField } from '../../../platform/http/dto/moment.field.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { OUTCOMES } from '../../runs/runs.service.js';

export class ListCallsQuery extends PageQuery {
  @EnumField(OUTCOMES, { description: 'Only calls with this outcome', optional: true })
  outcome?: Outcome;
}

/** Whose calls there are: of tests, imported ones, and imported ones of real callers. */
export const LISTED_ORIGINS = ['test', 'import', 'production'] as const;
export type ListedOrigin = (typeof LISTED_ORIGINS)[number];

export class AgentCallsQuery extends ListCallsQuery {
  @EnumField(LISTED_ORIGINS, {
    description: 'Only calls of tests, imported calls, or imported calls of `production`',
    optional: true,
  })
  origin?: ListedOrigin;

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
