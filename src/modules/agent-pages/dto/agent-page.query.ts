import { PAGE_DAYS } from '../../../../libs/run-report/index.js';
import { EnumField } from '../../../platform/http/dto/fields.js';

const DAYS = PAGE_DAYS.map(String);

/** Days that the page shows by default. */
export const DEFAULT_DAYS = 30;

export class AgentPageQuery {
  @EnumField(DAYS, { description: `Days that the page shows; ${DEFAULT_DAYS} by default`, optional: true })
  days?: string;
}
