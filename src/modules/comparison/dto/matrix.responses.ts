import { ApiProperty, getSchemaPath, PickType } from '@nestjs/swagger';
import { MAX_LENGTH, StringField } from '../../../platform/http/dto/fields.js';
import { SchemaField } from '../../../platform/openapi/named-schemas.js';
import { orNull } from '../../../platform/openapi/schema-parts.js';
import { ComparedCase, ComparedDifference, ComparedResult, ComparedRun } from './comparison.responses.js';

const DifferenceField = (of: string): PropertyDecorator =>
  SchemaField(
    {
      ...orNull({ $ref: getSchemaPath(ComparedDifference) }),
      description: `Difference of ${of} to that of the first run; null for the first run`,
      examples: [{ change: 'worse', pValue: 0.012, callsNeeded: null }],
    },
    true,
  );

/** A run as a column. Pass rate: of the cases that it shares with the first one; score and latencies: of the whole run. */
export class MatrixRun extends ComparedRun {
  @StringField({
    description: 'Protocol of its calls; null if it is not known',
    example: 'chat-completions',
    maxLength: MAX_LENGTH.name,
    nullable: true,
  })
  protocol: string | null;

  @DifferenceField('the pass rate of all shared cases together')
  difference: ComparedDifference | null;
}

/** Results of the counted calls of a case in one of the runs. */
export class MatrixResult extends ComparedResult {
  @DifferenceField('the pass rate')
  difference: ComparedDifference | null;
}

/** A case of the first run, as identified there. */
export class MatrixCase extends PickType(ComparedCase, ['caseKey', 'evaluationId', 'key', 'row', 'name'] as const) {
  @ApiProperty({
    type: [MatrixResult],
    description: 'Its results, in the order of the runs, without runs that do not have it',
  })
  results: MatrixResult[];
}

/** Runs side by side. */
export class RunMatrix {
  @ApiProperty({ type: [MatrixRun], description: 'The run itself, and then the others in the given order' })
  runs: MatrixRun[];

  @ApiProperty({ type: [MatrixCase], description: 'The cases of the first run, in plan order' })
  cases: MatrixCase[];

  @ApiProperty({ type: [String], description: 'What could not be compared, one sentence each', example: [] })
  warnings: string[];
}
