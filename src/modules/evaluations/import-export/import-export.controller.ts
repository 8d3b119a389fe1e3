import { Controller, Get, Param, Post, Query, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentCaller } from '../../../platform/access/access.decorators.js';
import type { Caller } from '../../../platform/access/caller.js';
import { streamedFile } from '../../../platform/http/responses/streamed-file.js';
import { FileBody } from '../../../platform/http/body/text-body.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { ExportQuery, ImportQuery } from '../dto/evaluation.requests.js';
import { ImportResult } from '../dto/import.response.js';
import { ExportService } from './export.service.js';
import { exportContent, importContent } from './file-examples.js';
import { ImportGate } from './import-gate.js';
import { ImportService } from './import.service.js';
import type { ReadFile } from './import-threads.js';
import { CONTENT_TYPE_OF, SIZE_LIMITS } from './media-types.js';

const tag = 'Evaluations';
const path = { agentId: 'Identifier of the agent' };

@Controller('agents/:agentId/evaluations')
export class ImportExportController {
  constructor(
    private readonly importer: ImportService,
    private readonly exporter: ExportService,
  ) {}

  @Operation({
    summary: 'Import evaluations',
    description:
      'Creates or replaces each evaluation of the file, matched by `key`, and each personality, matched by `name`, in one transaction. Those that are not in the file are kept. An evaluation names its personality by `personality`, its name, or by `personalityId`. Every violation is reported with its path, the key or name of the item and, in YAML and CSV, the line. With `dryRun` nothing is written; the response also lists the other agents that an updated personality affects, and `plan` says which of these evaluations a run could not take and what it would warn of. A file has at most 5,000 evaluations and 10 MiB, as YAML 2 MiB, also after decompression. One import of a workspace runs at a time; four more wait, and further ones are 429 with `Retry-After`.',
    tag,
    access: 'EDITOR',
    path,
    query: true,
    file: { limits: SIZE_LIMITS, gate: ImportGate, content: importContent },
    response: { shape: 'data', type: ImportResult, message: 'Evaluations imported successfully' },
    errors: ['CONFLICT', 'UNPROCESSABLE_CONTENT'],
  })
  @Post('import')
  importEvaluations(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() { dryRun, medium }: ImportQuery,
    @FileBody() file: ReadFile,
  ): Promise<ImportResult> {
    return this.importer.import(caller, agentId, file, { dryRun: dryRun === 'true', medium: medium ?? null });
  }

  @Operation({
    summary: 'Export evaluations',
    description:
      'All evaluations of the agent, oldest first, and the personalities that they use, in a file that can be imported again unchanged, also in another workspace. CSV contains only evaluations, with the names of their personalities.',
    tag,
    access: 'VIEWER',
    path,
    query: true,
    response: { shape: 'file', message: 'The file', content: exportContent },
  })
  @Get('export')
  async exportEvaluations(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Query() { format = 'json' }: ExportQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const parts = await this.exporter.export(caller, agentId, format);
    const options = {
      type: CONTENT_TYPE_OF[format],
      disposition: `attachment; filename="evaluations-${agentId}.${format}"`,
      name: 'Export',
    };
    return streamedFile(parts, options, response);
  }
}
