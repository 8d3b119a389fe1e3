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

/** Number of evaluations in memory at once; one can be half a megabyte. */
const BATCH_SIZE = 50;

const WRITERS = { json: writeJson, yaml: writeYaml, csv: writeCsv } as const;

/** Exports an agent's evaluations as a file that can be imported. */
@Injectable()
export class ExportService {
  constructor(
    private readonly repository: ImportExportRepository,
    private readonly agents: AgentsService,
  ) {}

  /**
   * All evaluations of the agent, oldest first, so that a file keeps its order through import and export. Batches are read
   * on demand, so that a slow client holds neither memory nor a database connection.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, before the first part
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
    // An empty part would end the stream.
    if (part !== '') yield part;
  }
}

/** Without a key the id is exported, which import recognises. */
const fileItemOf = (row: EvaluationEntity) => ({ ...contentOf(row), key: row.key ?? row.id });
