import { FIELD_NAMES, type FieldName, exampleOf } from '../../../../libs/evaluation-definition/index.js';
import { CreateEvaluationRequest } from '../dto/evaluation.requests.js';
import { getSchemaPath } from '@nestjs/swagger';
import type { FileContent } from '../../../platform/openapi/operation.decorator.js';
import { writeCsv } from './csv-file.js';
import { FORMAT_OF } from './media-types.js';
import { writeYaml } from './yaml-file.js';

const item = exampleOf(FIELD_NAMES);

/** The same evaluation in every format. */
const EXAMPLES = {
  json: [item],
  yaml: writeYaml.item(item, true),
  csv: writeCsv.head + writeCsv.item(item as Record<FieldName, unknown>),
};

const list = { type: 'array', items: { $ref: getSchemaPath(CreateEvaluationRequest) } };
const text = (format: string) => ({ type: 'string', description: `Evaluations as ${format}` });

const CONTENT = {
  json: { schema: list, example: EXAMPLES.json },
  yaml: { schema: text('YAML, with the fields of the JSON'), example: EXAMPLES.yaml },
  csv: { schema: text('CSV with a header row, with the fields of the JSON as columns'), example: EXAMPLES.csv },
};

/** Request bodies of the import. */
export const importContent: FileContent = Object.fromEntries(
  Object.entries(FORMAT_OF).map(([mediaType, format]) => [mediaType, CONTENT[format]]),
);

/** Responses of the export. */
export const exportContent: FileContent = {
  'application/json': CONTENT.json,
  'application/yaml': CONTENT.yaml,
  'text/csv': CONTENT.csv,
};
