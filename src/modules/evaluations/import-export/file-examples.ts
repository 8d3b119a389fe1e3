import { getSchemaPath } from '@nestjs/swagger';
import {
  exampleFileItem,
  examplePersonality,
  FILE_FIELD_NAMES,
  fileDefinitions,
  fileProperties,
} from '../../../../libs/evaluation-definition/index.js';
import { nameSchemas } from '../../../platform/openapi/named-schemas.js';
import type { FileContent } from '../../../platform/openapi/operation.decorator.js';
import { forOpenApi } from '../definition/authored-fields.js';
import { csvWriter } from './csv-file.js';
import { FORMAT_OF, MAX_ITEMS } from './media-types.js';
import { yamlWriter } from './yaml-file.js';

const item = exampleFileItem();
const columns = FILE_FIELD_NAMES.filter((name) => name !== 'personalityId');

/** The same evaluation in every format. */
const EXAMPLES = {
  json: { personalities: [examplePersonality], evaluations: [item] },
  yaml: `${yamlWriter('personalities').item(examplePersonality, true)}\n${yamlWriter('evaluations').item(item, true)}`,
  csv: csvWriter(columns).head + csvWriter(columns).item(item, true),
};

const properties = fileProperties(MAX_ITEMS);
nameSchemas(
  forOpenApi({
    ...fileDefinitions,
    EvaluationFile: {
      title: 'File',
      description: 'Evaluations and the personalities that they use.',
      type: 'object',
      properties,
      required: ['evaluations'],
      additionalProperties: false,
    },
    EvaluationList: {
      ...properties.evaluations,
      title: 'List',
      description: 'Evaluations whose personalities exist already.',
    },
  }),
);
const file = { $ref: getSchemaPath('EvaluationFile') };
const fileOrList = { oneOf: [file, { $ref: getSchemaPath('EvaluationList') }] };
const text = (format: string) => ({ type: 'string', description: `Evaluations as ${format}` });

const yaml = { schema: text('YAML, with the fields of the JSON'), example: EXAMPLES.yaml };
const csv = {
  schema: text('CSV with a header row, with the fields of an evaluation as columns'),
  example: EXAMPLES.csv,
};
const IMPORTED = { json: { schema: fileOrList, example: EXAMPLES.json }, yaml, csv };

/** Request bodies of the import. */
export const importContent: FileContent = Object.fromEntries(
  Object.entries(FORMAT_OF).map(([mediaType, format]) => [mediaType, IMPORTED[format]]),
);

/** Responses of the export. */
export const exportContent: FileContent = {
  'application/json': { schema: file, example: EXAMPLES.json },
  'application/yaml': yaml,
  'text/csv': csv,
};
