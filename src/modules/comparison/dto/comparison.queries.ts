import { MomentField } from '../../../platform/http/dto/moment.field.js';
import { RunReferenceField } from '../../runs/dto/gate.fields.js';

export class ComparisonQuery {
  @RunReferenceField({
    description:
      'Run to compare with: the id of a run, or `previous`, the newest run of the agent that ended before this one started and shares a case, whether its gate was met or not. The cases of a run of another agent are matched by the key of their evaluation and the row of variables',
    optional: true,
    default: 'previous',
  })
  with?: string;
}

/** Other runs of a matrix; a table with more columns cannot be read. */
export const MAX_OTHER_RUNS = 11;

export class MatrixQuery {
  @RunReferenceField({
    description: `Runs to compare with, up to ${MAX_OTHER_RUNS}, separated by commas: ids or \`previous\`, as for the comparison of two`,
    maximum: MAX_OTHER_RUNS,
    optional: true,
    default: 'previous',
  })
  with?: string;
}

export class AgentMetricsQuery {
  @MomentField('Include runs that ended at or after this time; defaults to 30 days before `to`', '2026-11-01')
  from?: string;

  @MomentField('Include runs that ended before this time; defaults to now', '2026-12-01')
  to?: string;
}
