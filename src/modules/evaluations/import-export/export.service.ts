import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { AgentsService } from '../../agents/agents.service.js';
import type { ExportFormat } from '../dto/evaluation.requests.js';
import type { EvaluationEntity } from '../evaluation.entity.js';
import { contentOf } from '../evaluations.service.js';
import { writeCsv } from './csv-file.js';
import { ImportExportRepository } from './import-export.repository.js';
import { writeJson } from './json-file.js';
import { writeYaml } from './yaml-file.js';

/** So many evaluations are in memory at once; one can be half a megabyte. */
const BATCH_SIZE = 50;

const WRITERS = { json: writeJson, yaml: writeYaml, csv: writeCsv } as const;

/** Writes an agent's evaluations as the file that import takes back. */
@Injectable()
export class ExportService {
  constructor(
    private readonly repository: ImportExportRepository,
    private readonly agents: AgentsService,
  ) {}

  /**
   * All evaluations of the agent, oldest first, so that a file keeps its order through import and export. Each batch is
   * read when the one before is taken, so that a slow client holds neither memory nor a connection.
   * @throws DomainError NOT_FOUND or FORBIDDEN, of the agent, before the first part
   */
  async export(caller: Caller, agentId: string, format: ExportFormat): Promise<AsyncIterable<string>> {
    const { id } = await this.agents.describe(caller, agentId);
    return this.parts(id, await this.repository.batch(id, BATCH_SIZE), format);
  }

  private async *parts(agentId: string, first: EvaluationEntity[], format: ExportFormat): AsyncGenerator<string> {
    const writer = WRITERS[format];
    let isFirst = true;
    let part = writer.head;
    let batch = first;
    for (let last = batch.at(-1); last; last = batch.at(-1)) {
      for (const row of batch) {
        part += writer.item(fileItemOf(row), isFirst);
        isFirst = false;
      }
      yield part;
      part = '';
      batch = batch.length < BATCH_SIZE ? [] : await this.repository.batch(agentId, BATCH_SIZE, last);
    }
    part += writer.tail(isFirst);
    // An empty part would be taken for the end.
    if (part !== '') yield part;
  }
}

/** An evaluation without a key goes by its id: import knows it again, and leaves it without one. */
const fileItemOf = (row: EvaluationEntity) => ({ ...contentOf(row), key: row.key ?? row.id });
