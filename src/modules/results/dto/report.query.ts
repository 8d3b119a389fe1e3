import { MAX_OTHER_RUNS } from '../../comparison/dto/comparison.queries.js';
import { RunReferenceField } from '../../runs/dto/gate.fields.js';

export class ReportQuery {
  @RunReferenceField({
    description: `Run to compare with: an id or \`previous\`, as for the comparison; by default the run of the gate, or else the previous one. Several, up to ${MAX_OTHER_RUNS}, separated by commas: the report shows them side by side`,
    maximum: MAX_OTHER_RUNS,
    example: null,
    optional: true,
  })
  with?: string;
}
