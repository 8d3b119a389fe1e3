import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  authored,
  type EvaluationInput,
  findViolations,
  type ValidationContext,
  sentence,
  SizeExceeded,
  createValidationContext,
} from '../../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { Database } from '../../../platform/database/database.js';
import { DomainError, forbidden } from '../../../platform/errors/domain-error.js';
import { AgentsService } from '../../agents/agents.service.js';
import { PersonalitiesService } from '../../personalities/personalities.service.js';
import { IssueList } from '../definition/issue-list.js';
import type { ImportAction, ImportedEvaluation, ImportResult } from '../dto/import.response.js';
import { rejectDuplicateKey } from '../evaluations.service.js';
import { type Content, ImportExportRepository, type Match } from './import-export.repository.js';
import { type EvaluationFile, readFile } from './file.js';
import type { FileItem } from './file-item.js';
import { MAX_FILE_SIZE } from './media-types.js';
import { sequentialIds } from '../../../platform/database/sequential-ids.js';

/** Milliseconds of validation before other requests are processed. */
const SLICE_MS = 20;
/** Maximum number of characters and values after resolving aliases; files without aliases never exceed it. */
const MAX_UNFOLDED_SIZE = 2 * MAX_FILE_SIZE;

/** A valid item and its position. */
interface ValidItem {
  readonly item: FileItem;
  readonly input: EvaluationInput & { readonly key: string };
}

/** Action of an import for an item. */
interface Plan {
  readonly content: Content;
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
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, BAD_REQUEST with every violation, FORBIDDEN for a personality
   *   of another workspace
   */
  async import(caller: Caller, agentId: string, file: EvaluationFile, dryRun: boolean): Promise<ImportResult> {
    const items = readFile(file);
    const { id } = await this.agents.describe(caller, agentId);
    const issues = new IssueList();
    const valid = await findValidItems(items, issues);
    return this.database.transaction(async () => {
      // The lock serialises imports of one agent, so that no other request takes a key in between.
      const lock = issues.isEmpty && !dryRun;
      const { phoneNumber } = await this.agents.describe(caller, id, { lock });
      const keys = valid.map(({ input }) => input.key);
      const matches = await this.repository.match(id, keys);
      await this.requirePersonalities(caller, valid, matches, issues);
      const plans = await this.plan(valid, matches, phoneNumber ?? '');
      if (!dryRun) await this.write(caller, id, plans);
      return resultOf(plans, keys, dryRun);
    });
  }

  /** A deleted personality can be kept, but not assigned. */
  private async requirePersonalities(
    caller: Caller,
    valid: readonly ValidItem[],
    matches: ReadonlyMap<string, Match>,
    issues: IssueList,
  ): Promise<void> {
    const chosen = valid.filter(({ input }) => matches.get(input.key)?.personalityId !== idOf(input));
    const ids = [...new Set(chosen.map(({ input }) => idOf(input)))];
    const { unknown, foreign } = await this.personalities.unusable(caller, ids);
    for (const { item, input } of chosen) {
      if (unknown.has(idOf(input))) issues.add(issueOf(item, 'personalityId is not the id of a personality'));
    }
    issues.throwIfAny();
    if (foreign.size > 0) throw forbidden();
  }

  private async plan(
    valid: readonly ValidItem[],
    matches: ReadonlyMap<string, Match>,
    phoneNumber: string,
  ): Promise<Plan[]> {
    const newIds = sequentialIds(valid.length);
    const contents = valid.map(({ input }, index): Content => {
      const id = matches.get(input.key)?.id ?? newIds[index] ?? '';
      return { id, ...authored(input, phoneNumber) };
    });
    const existing = new Set([...matches.values()].map(({ id }) => id));
    const changed = await this.repository.changed(contents.filter(({ id }) => existing.has(id)));
    return contents.map((content) => {
      if (!existing.has(content.id)) return { content, action: 'created' };
      return { content, action: changed.has(content.id) ? 'updated' : 'unchanged' };
    });
  }

  private async write(caller: Caller, agentId: string, plans: readonly Plan[]): Promise<void> {
    const { workspaceId, userId } = caller;
    // Updates first: they may wait for locks, and inserted rows should not be locked while waiting.
    await this.repository.update(contentsOf(plans, 'updated'));
    await rejectDuplicateKey(() =>
      this.repository.insert(contentsOf(plans, 'created'), { workspaceId, agentId, userId }),
    );
  }
}

/** Validates all items. Yields to other requests, because a large file takes seconds. */
async function findValidItems(items: readonly FileItem[], issues: IssueList): Promise<ValidItem[]> {
  const context = createValidationContext(MAX_UNFOLDED_SIZE);
  const valid: ValidItem[] = [];
  const placeOf = new Map<unknown, string>();
  let sliceEnd = performance.now() + SLICE_MS;
  for (const item of items) {
    if (issues.isFull) break;
    if (performance.now() > sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    const violations = violationsOf(item, context);
    const key = keyOf(item);
    const earlier = key === undefined ? undefined : placeOf.get(key);
    if (earlier !== undefined) violations.push(issueOf(item, `key is already used by ${earlier}`));
    else if (key !== undefined) placeOf.set(key, item.place);
    if (violations.length === 0) valid.push({ item, input: item.value as ValidItem['input'] });
    else for (const violation of violations) issues.add(violation);
  }
  return valid;
}

function violationsOf(item: FileItem, context: ValidationContext): string[] {
  try {
    const found = findViolations('file', item.value, context);
    // An unreadable cell is missing from the value; that is not reported again.
    return [
      ...item.violations.map((violation) => issueOf(item, violation)),
      ...found.map((violation) =>
        violation.path.length === 0 ? `${item.place} ${violation.text}` : issueOf(item, sentence(violation)),
      ),
    ];
  } catch (error) {
    if (!(error instanceof SizeExceeded)) throw error;
    throw new DomainError('PAYLOAD_TOO_LARGE', undefined, [
      'body must be at most 20 MiB once its aliases are resolved',
    ]);
  }
}

const issueOf = ({ place, separator }: FileItem, violation: string): string => `${place}${separator}${violation}`;

function keyOf({ value }: FileItem): string | undefined {
  const key = typeof value === 'object' && value !== null ? (value as { key?: unknown }).key : undefined;
  return typeof key === 'string' ? key : undefined;
}

const idOf = ({ personalityId }: EvaluationInput): string => personalityId.toLowerCase();

const contentsOf = (plans: readonly Plan[], action: ImportAction): Content[] =>
  plans.filter((plan) => plan.action === action).map(({ content }) => content);

function resultOf(plans: readonly Plan[], keys: readonly string[], dryRun: boolean): ImportResult {
  const items = plans.map(({ content, action }, index): ImportedEvaluation => {
    const exists = action !== 'created' || !dryRun;
    return { key: keys[index] ?? '', id: exists ? content.id : null, action };
  });
  const count = (action: ImportAction) => items.filter((item) => item.action === action).length;
  return { dryRun, created: count('created'), updated: count('updated'), unchanged: count('unchanged'), items };
}
