import { Injectable } from '@nestjs/common';
import { FILE_FIELD_NAMES, type FileFieldName } from '../../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { AgentsService } from '../../agents/agents.service.js';
import { PersonalityFilesService } from '../../personalities/personality-files.service.js';
import type { ExportFormat } from '../dto/evaluation.requests.js';
import type { EvaluationEntity } from '../evaluation.entity.js';
import { contentOf } from '../evaluations.service.js';
import { csvWriter } from './csv-file.js';
import { ImportExportRepository } from './import-export.repository.js';
import { jsonWriter } from './json-file.js';
import type { ListWriter } from './list-writer.js';
import { yamlWriter } from './yaml-file.js';

/** Number of evaluations or personalities in memory at once; one can be half a megabyte. */
const BATCH_SIZE = 50;

/** What is exported, fixed before the first part, so that all parts of a file fit together. */
interface Suite {
  readonly agentId: string;
  readonly phoneNumber: string;
  /** The personality of each evaluation, by the evaluation's id. */
  readonly personalities: ReadonlyMap<string, string>;
  /** The names that identify personalities, by id, in order of first use. The others are written as ids. */
  readonly names: ReadonlyMap<string, string>;
}

/** Exports an agent's evaluations and their personalities as a file that can be imported. */
@Injectable()
export class ExportService {
  constructor(
    private readonly repository: ImportExportRepository,
    private readonly agents: AgentsService,
    private readonly personalities: PersonalityFilesService,
  ) {}

  /**
   * All evaluations of the agent, oldest first, so that a file keeps its order through import and export. Batches are read
   * on demand, so that a slow client holds neither memory nor a database connection.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, before the first part
   */
  async export(caller: Caller, agentId: string, format: ExportFormat): Promise<AsyncIterable<string>> {
    const { id, phoneNumber } = await this.agents.describe(caller, agentId);
    const personalities = await this.repository.personalities(id);
    const used = [...new Set(personalities.values())];
    const found = await this.personalities.identifyingNames(caller, used);
    const names = new Map(used.flatMap((used) => (found.has(used) ? [[used, found.get(used) ?? ''] as const] : [])));
    const suite = { agentId: id, phoneNumber: phoneNumber ?? '', personalities, names };
    return format === 'csv' ? this.csvParts(suite) : this.parts(suite, format === 'json' ? jsonWriter : yamlWriter);
  }

  private async *parts(
    suite: Suite,
    writerOf: (list: 'personalities' | 'evaluations') => ListWriter,
  ): AsyncGenerator<string> {
    yield* write(writerOf('personalities'), this.personalityBatches(suite));
    yield* write(writerOf('evaluations'), this.evaluationBatches(suite, withoutDefaultNumber));
  }

  private async *csvParts(suite: Suite): AsyncGenerator<string> {
    // Files of suites that do not use a column stay as they were before it.
    const isUsed: Partial<Record<FileFieldName, boolean>> = {
      personalityId: [...suite.personalities.values()].some((id) => !suite.names.has(id)),
      ...(await this.repository.usedFields(suite.agentId)),
    };
    const columns = FILE_FIELD_NAMES.filter((name) => isUsed[name] ?? true);
    yield* write(
      csvWriter(columns),
      this.evaluationBatches(suite, (item) => item),
    );
  }

  private async *personalityBatches({ names }: Suite): AsyncGenerator<object[]> {
    const ids = [...names.keys()];
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const batch = ids.slice(at, at + BATCH_SIZE);
      const contents = await this.personalities.contents(batch);
      // Under the names that the evaluations use, even if one was renamed since.
      yield contents.map((content, index) => ({ ...content, name: names.get(batch[index] ?? '') ?? content.name }));
    }
  }

  private async *evaluationBatches(
    suite: Suite,
    adapt: (item: FileItemFields, suite: Suite) => object,
  ): AsyncGenerator<object[]> {
    let batch = await this.repository.batch(suite.agentId, BATCH_SIZE);
    for (let last = batch.at(-1); last; last = batch.at(-1)) {
      // Later evaluations may need a personality that is not in the file.
      const exported = batch.filter(({ id }) => suite.personalities.has(id));
      yield exported.map((row) => adapt(fileItemOf(row, suite), suite));
      batch = batch.length < BATCH_SIZE ? [] : await this.repository.batch(suite.agentId, BATCH_SIZE, last);
    }
  }
}

/** Writes the items of the batches as they arrive. */
async function* write(writer: ListWriter, batches: AsyncIterable<object[]>): AsyncGenerator<string> {
  let isFirst = true;
  let part = writer.head;
  for await (const batch of batches) {
    for (const item of batch) {
      part += writer.item(item, isFirst);
      isFirst = false;
    }
    // An empty part would end the stream.
    if (part !== '') yield part;
    part = '';
  }
  part += writer.tail(isFirst);
  if (part !== '') yield part;
}

type FileItemFields = Partial<Record<FileFieldName, unknown>>;

/** Without a key the id is exported, which import recognises. Fields without a value are left out. */
function fileItemOf(row: EvaluationEntity, { personalities, names }: Suite): FileItemFields {
  const personalityId = personalities.get(row.id) ?? row.personalityId;
  const name = names.get(personalityId);
  const fields: FileItemFields = {
    ...contentOf(row),
    key: row.key ?? row.id,
    personality: name,
    personalityId: name === undefined ? personalityId : undefined,
    history: row.history.length > 0 ? contentOf(row).history : undefined,
  };
  const given = FILE_FIELD_NAMES.filter((field) => fields[field] !== undefined && fields[field] !== null);
  return Object.fromEntries(given.map((field) => [field, fields[field]]));
}

/** The agent's own number is that of every agent that the file is imported to. */
function withoutDefaultNumber(item: FileItemFields, { phoneNumber }: Suite): FileItemFields {
  const { vendorCallPhoneNumber, ...rest } = item;
  return vendorCallPhoneNumber === phoneNumber ? rest : item;
}
