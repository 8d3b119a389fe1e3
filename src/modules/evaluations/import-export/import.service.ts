import { Injectable } from '@nestjs/common';
import type { Medium } from '../../../../libs/simulation/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { Database } from '../../../platform/database/database.js';
import { sequentialIds } from '../../../platform/database/sequential-ids.js';
import { about, invalidInput } from '../../../platform/errors/domain-error.js';
import { AgentsService } from '../../agents/agents.service.js';
import { IssueList } from '../definition/issue-list.js';
import type { ImportResult } from '../dto/import.response.js';
import { rejectDuplicateKey } from '../evaluations.service.js';
import { counted, type ImportTable, type Planned, planImport, writeImport } from './bulk-import.js';
import type { CheckedFile } from './check-file.js';
import { type Content, ImportExportRepository, type Match } from './import-export.repository.js';
import type { ReadFile } from './import-threads.js';
import { PersonalityImport } from './personality-import.js';
import { SuitePlanner } from './suite-planner.js';

export interface ImportOptions {
  /** Writes nothing, and plans a run. */
  readonly dryRun: boolean;
  readonly medium: Medium | null;
}

/** Imports evaluations and personalities from a file: all of them or, if anything is invalid, none. */
@Injectable()
export class ImportService {
  constructor(
    private readonly database: Database,
    private readonly repository: ImportExportRepository,
    private readonly agents: AgentsService,
    private readonly personalities: PersonalityImport,
    private readonly planner: SuitePlanner,
  ) {}

  /**
   * Creates or replaces a personality per item, matched by name, and an evaluation per item, matched by key; others are
   * kept.
   * @param options.medium of the run that a dry run plans; null: that of the agent's protocol
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, BAD_REQUEST with every violation, PAYLOAD_TOO_LARGE
   */
  async import(
    caller: Caller,
    agentId: string,
    read: ReadFile,
    { dryRun, medium }: ImportOptions,
  ): Promise<ImportResult> {
    if (medium !== null && !dryRun) throw invalidInput(about('medium', 'must only be given together with dryRun=true'));
    if ('error' in read) throw read.error;
    const { file } = read;
    const issues = new IssueList(file.issues);
    return this.database.transaction(async () => {
      // The lock serialises imports of one agent, so that no other request takes a key in between.
      const lock = issues.isEmpty && !dryRun;
      const agent = await this.agents.describe(caller, agentId, { lock });
      const personalities = await this.personalities.match(caller, file, issues, { lock });
      const keys = file.evaluations.map(({ key }) => key);
      const matches = await this.repository.match(agent.id, keys);
      const chosen = await this.personalities.resolve(caller, file.evaluations, matches, personalities, issues);
      issues.throwIfAny();

      const contents = contentsOf(file, matches, chosen, agent.phoneNumber ?? '');
      const existing = new Set([...matches.values()].map(({ id }) => id));
      const personalityPlan = await this.personalities.plan(personalities);
      const plan = await planImport(this.repository, contents, existing);
      const described = await this.personalities.describe(caller, agent.id, file, personalityPlan, dryRun);
      if (!dryRun) {
        await this.personalities.write(caller, personalities, personalityPlan);
        await this.write(caller, agent.id, plan, contents);
      }
      return {
        dryRun,
        ...counted(plan),
        items: plan.map(({ id, action }, index) => ({
          key: keys[index] ?? '',
          id: action === 'created' && dryRun ? null : id,
          action,
        })),
        personalities: { ...counted(described), items: described },
        ...(dryRun && { plan: await this.planner.plan(agent, medium, contents, personalities, matches) }),
      };
    });
  }

  private async write(
    { workspaceId, userId }: Caller,
    agentId: string,
    plan: readonly Planned[],
    contents: readonly Content[],
  ): Promise<void> {
    const table: ImportTable<Content> = {
      changed: (content) => this.repository.changed(content),
      insert: (content) => this.repository.insert(content, { workspaceId, agentId, userId }),
      update: (content) => this.repository.update(content),
    };
    await rejectDuplicateKey(() => writeImport(table, contents, plan));
  }
}

/** The file's batches, with the id and personality of each evaluation. */
function contentsOf(
  { evaluations, evaluationBatches }: CheckedFile,
  matches: ReadonlyMap<string, Match>,
  chosen: readonly string[],
  phoneNumber: string,
): Content[] {
  const newIds = sequentialIds(evaluations.length);
  const ids = evaluations.map(({ key }, index) => matches.get(key)?.id ?? newIds[index] ?? '');
  let start = 0;
  return evaluationBatches.map(({ json, count }) => {
    const end = start + count;
    const content = { json, ids: ids.slice(start, end), personalityIds: chosen.slice(start, end), phoneNumber };
    start = end;
    return content;
  });
}
