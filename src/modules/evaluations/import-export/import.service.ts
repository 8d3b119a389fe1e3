import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { Database } from '../../../platform/database/database.js';
import { sequentialIds } from '../../../platform/database/sequential-ids.js';
import { forbidden } from '../../../platform/errors/domain-error.js';
import { AgentsService } from '../../agents/agents.service.js';
import { PersonalitiesService } from '../../personalities/personalities.service.js';
import { IssueList } from '../definition/issue-list.js';
import type { ImportAction, ImportResult } from '../dto/import.response.js';
import { rejectDuplicateKey } from '../evaluations.service.js';
import type { CheckedFile, CheckedItem } from './check-file.js';
import { type Content, ImportExportRepository, type Match } from './import-export.repository.js';
import type { ReadFile } from './import-threads.js';

/** Action of an import for an item. */
interface Plan {
  readonly key: string;
  readonly id: string;
  readonly action: ImportAction;
}

/** Imports evaluations from a file: all of them or, if anything is invalid, none. */
@Injectable()
export class ImportService {
  constructor(
    private readonly database: Database,
    private readonly repository: ImportExportRepository,
    private readonly agents: AgentsService,
    private readonly personalities: PersonalitiesService,
  ) {}

  /**
   * Creates or replaces an evaluation per item, matched by key; other evaluations are kept.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, BAD_REQUEST with every violation, PAYLOAD_TOO_LARGE,
   *   FORBIDDEN for a personality of another workspace
   */
  async import(caller: Caller, agentId: string, read: ReadFile, dryRun: boolean): Promise<ImportResult> {
    if ('error' in read) throw read.error;
    const { file } = read;
    const issues = new IssueList(file.issues);
    return this.database.transaction(async () => {
      // The lock serialises imports of one agent, so that no other request takes a key in between.
      const lock = issues.isEmpty && !dryRun;
      const { id, phoneNumber } = await this.agents.describe(caller, agentId, { lock });
      const keys = file.items.map(({ key }) => key);
      const matches = await this.repository.match(id, keys);
      await this.requirePersonalities(caller, file.items, matches, issues);
      const contents = contentsOf(file, matches, phoneNumber ?? '');
      const plans = await this.plan(file.items, matches, contents);
      if (!dryRun) await this.write(caller, id, plans, contents);
      return resultOf(plans, dryRun);
    });
  }

  /** A deleted personality can be kept, but not assigned. */
  private async requirePersonalities(
    caller: Caller,
    items: readonly CheckedItem[],
    matches: ReadonlyMap<string, Match>,
    issues: IssueList,
  ): Promise<void> {
    const chosen = items.filter(({ key, personalityId }) => matches.get(key)?.personalityId !== personalityId);
    const ids = [...new Set(chosen.map(({ personalityId }) => personalityId))];
    const { unknown, foreign } = await this.personalities.unusable(caller, ids);
    for (const { prefix, personalityId } of chosen) {
      if (unknown.has(personalityId)) issues.add(`${prefix}personalityId is not the id of a personality`);
    }
    issues.throwIfAny();
    if (foreign.size > 0) throw forbidden();
  }

  private async plan(
    items: readonly CheckedItem[],
    matches: ReadonlyMap<string, Match>,
    contents: readonly Content[],
  ): Promise<Plan[]> {
    const existing = new Set([...matches.values()].map(({ id }) => id));
    const changed = new Set<string>();
    for (const content of restrictedTo(contents, (id) => existing.has(id))) {
      for (const id of await this.repository.changed(content)) changed.add(id);
    }
    const ids = contents.flatMap((content) => content.ids);
    return items.map(({ key }, index) => {
      const id = ids[index] ?? '';
      if (!existing.has(id)) return { key, id, action: 'created' };
      return { key, id, action: changed.has(id) ? 'updated' : 'unchanged' };
    });
  }

  private async write(
    { workspaceId, userId }: Caller,
    agentId: string,
    plans: readonly Plan[],
    contents: readonly Content[],
  ): Promise<void> {
    const idsOf = (wanted: ImportAction) => new Set(plans.flatMap(({ id, action }) => (action === wanted ? id : [])));
    const [updated, created] = [idsOf('updated'), idsOf('created')];
    // Updates first: they may wait for locks, and inserted rows should not be locked while waiting.
    for (const content of restrictedTo(contents, (id) => updated.has(id))) await this.repository.update(content);
    await rejectDuplicateKey(async () => {
      for (const content of restrictedTo(contents, (id) => created.has(id))) {
        await this.repository.insert(content, { workspaceId, agentId, userId });
      }
    });
  }
}

/** The file's batches, with the id of each evaluation. */
function contentsOf(
  { items, batches }: CheckedFile,
  matches: ReadonlyMap<string, Match>,
  phoneNumber: string,
): Content[] {
  const newIds = sequentialIds(items.length);
  const ids = items.map(({ key }, index) => matches.get(key)?.id ?? newIds[index] ?? '');
  return batches.map(({ json, count }) => ({ json, ids: ids.splice(0, count), phoneNumber }));
}

/** The batches that hold some of the wanted evaluations, with null instead of the other ids. */
function* restrictedTo(contents: readonly Content[], isWanted: (id: string) => boolean): Generator<Content> {
  for (const content of contents) {
    const ids = content.ids.map((id) => (id !== null && isWanted(id) ? id : null));
    if (ids.some((id) => id !== null)) yield { ...content, ids };
  }
}

function resultOf(plans: readonly Plan[], dryRun: boolean): ImportResult {
  const items = plans.map(({ key, id, action }) => ({ key, id: action === 'created' && dryRun ? null : id, action }));
  const count = (wanted: ImportAction) => items.filter(({ action }) => action === wanted).length;
  return { dryRun, created: count('created'), updated: count('updated'), unchanged: count('unchanged'), items };
}
