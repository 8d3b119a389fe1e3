import { ApiProperty } from '@nestjs/swagger';
import { BooleanField, EnumField, IntegerField, MAX_LENGTH, StringField } from '../../../platform/http/dto/fields.js';

export const IMPORT_ACTIONS = ['created', 'updated', 'unchanged'] as const;
export type ImportAction = (typeof IMPORT_ACTIONS)[number];

export class ImportedEvaluation {
  @StringField({ description: 'Key of the item', example: 'table-for-four', maxLength: MAX_LENGTH.identifier })
  key: string;

  @StringField({
    description: 'Identifier of the evaluation; null for one that a dry run did not create',
    example: '4f0d7a86-5b1e-4c39-9d27-61c8e0b3a5f2',
    format: 'uuid',
    maxLength: MAX_LENGTH.identifier,
    nullable: true,
  })
  id: string | null;

  @EnumField(IMPORT_ACTIONS, { description: 'What the import did, or would do', example: 'created' })
  action: ImportAction;
}

/** Result of an import or of its dry run. */
export class ImportResult {
  @BooleanField({ description: 'Whether this was a dry run: nothing was written', example: false })
  dryRun: boolean;

  @IntegerField({ description: 'Number of new evaluations', example: 1, minimum: 0 })
  created: number;

  @IntegerField({ description: 'Number of changed evaluations', example: 0, minimum: 0 })
  updated: number;

  @IntegerField({ description: 'Number of unchanged evaluations', example: 0, minimum: 0 })
  unchanged: number;

  @ApiProperty({ type: [ImportedEvaluation], description: 'One entry per item of the file, in file order' })
  items: ImportedEvaluation[];
}
