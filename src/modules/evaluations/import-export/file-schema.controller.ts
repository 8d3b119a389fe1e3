import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { fileSchema } from '../../../../libs/evaluation-definition/index.js';
import { Public } from '../../../platform/access/access.decorators.js';
import { MAX_ITEMS } from './media-types.js';

const SCHEMA = `${JSON.stringify(fileSchema('urn:voice-agent-testing:evaluations', MAX_ITEMS), null, 2)}\n`;

/** Serves the JSON Schema of import files without authentication, so that editors can load it. */
@ApiExcludeController()
@Public()
@Controller()
export class FileSchemaController {
  @Header('Content-Type', 'application/schema+json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Get('docs/evaluations.schema.json')
  getEvaluationsSchema(): string {
    return SCHEMA;
  }
}
