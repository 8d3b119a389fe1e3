import { Injectable } from '@nestjs/common';
import { shownName } from '../../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { sequentialIds } from '../../../platform/database/sequential-ids.js';
import { AgentsService } from '../../agents/agents.service.js';
import { PersonalitiesService } from '../../personalities/personalities.service.js';
import { PersonalityFilesService } from '../../personalities/personality-files.service.js';
import type { IssueList } from '../definition/issue-list.js';
import type { ImportedPersonality, UsingAgent } from '../dto/import.response.js';
import { type Batch, type ImportTable, type Planned, planImport, writeImport } from './bulk-import.js';
import { type CheckedEvaluation, type CheckedFile, issueAt } from './check-file.js';
import { ImportExportRepository, type Match } from './import-export.repository.js';

/** Maximum number of other agents that are listed for a personality. */
const MAX_AGENTS = 20;
/** Maximum number of personalities that are named instead of one that does not exist. */
const MAX_NAMES = 10;
const RENAME = 'give it another name here and in evaluations, or delete or rename the others in the workspace';

interface PersonalityBatch extends Batch {
  readonly json: string;
}

/** The personalities of a file, with the id of each. */
export interface FilePersonalities {
  readonly batches: readonly PersonalityBatch[];
  /** Ids by name: of those in the file, which may be new, and of the workspace. Several if they share a name. */
  readonly idsByName: ReadonlyMap<string, readonly string[]>;
  readonly existing: ReadonlySet<string>;
}

/** Imports the personalities of a file and looks up those that its evaluations name. */
@Injectable()
export class PersonalityImport {
  constructor(
    private readonly repository: ImportExportRepository,
    private readonly agents: AgentsService,
    private readonly personalities: PersonalitiesService,
    private readonly files: PersonalityFilesService,
  ) {}

  /**
   * Matches the personalities of the file by name.
   * @param options.lock locks them, unless nothing will be written
   */
  async match(
    caller: Caller,
    file: CheckedFile,
    issues: IssueList,
    { lock }: { lock: boolean },
  ): Promise<FilePersonalities> {
    const own = file.personalities.map(({ name }) => name);
    const named = file.evaluations.flatMap(({ personality }) => ('name' in personality ? personality.name : []));
    if (lock && own.length > 0) await this.files.lock(caller, own);
    const names = [...new Set([...own, ...named])];
    const found = names.length > 0 ? await this.files.idsByName(caller, names) : new Map<string, string[]>();
    const newIds = sequentialIds(own.length);
    const existing = new Set<string>();
    const ids = file.personalities.map(({ name, place }, index) => {
      const bearers = found.get(name) ?? [];
      if (bearers.length > 1) {
        issues.add(issueAt(place, `is the name of ${bearers.length} personalities of the workspace: ${RENAME}`));
      }
      const [id] = bearers;
      if (id !== undefined) existing.add(id);
      // A name that several have is one issue of its own: evaluations that use the name get no further one.
      const chosen = id ?? newIds[index] ?? '';
      found.set(name, [chosen]);
      return chosen;
    });
    const batches = file.personalityBatches.map(({ json, count }) => ({ json, ids: ids.splice(0, count) }));
    return { batches, idsByName: found, existing };
  }

  /**
   * The personality of each evaluation, in file order. A deleted personality can be kept, but not assigned. What cannot
   * be found, or belongs to another workspace, is an issue.
   */
  async resolve(
    caller: Caller,
    evaluations: readonly CheckedEvaluation[],
    matches: ReadonlyMap<string, Match>,
    { idsByName }: FilePersonalities,
    issues: IssueList,
  ): Promise<string[]> {
    const isKept = (key: string, id: string) => matches.get(key)?.personalityId === id;
    const assigned = evaluations.flatMap(({ key, personality }) =>
      'id' in personality && !isKept(key, personality.id) ? personality.id : [],
    );
    const { unknown, foreign } = await this.personalities.unusable(caller, [...new Set(assigned)]);
    const isMissing = evaluations.some(({ personality: p }) => 'name' in p && !idsByName.has(p.name));
    const existing = isMissing ? await this.existingNames(caller, idsByName) : '';
    return evaluations.map(({ key, personality, place }) => {
      if ('id' in personality) {
        const { id } = personality;
        if (!isKept(key, id) && (unknown.has(id) || foreign.has(id))) {
          issues.add(issueAt(place, 'is not the id of a personality'));
        }
        return id;
      }
      const [id, ...others] = idsByName.get(personality.name) ?? [];
      if (id === undefined) issues.add(issueAt(place, `is not the name of a personality${existing}`));
      if (others.length > 0) {
        issues.add(issueAt(place, `is the name of ${others.length + 1} personalities: use personalityId instead`));
      }
      return id ?? '';
    });
  }

  /** What may be written instead of a name that does not exist. */
  private async existingNames(caller: Caller, known: ReadonlyMap<string, unknown>): Promise<string> {
    const names = new Set([...known.keys(), ...(await this.files.someNames(caller, MAX_NAMES + 1))]);
    if (names.size === 0) return '; there is none: write it in personalities of the file';
    const shown = [...names].slice(0, MAX_NAMES).map((name) => JSON.stringify(shownName(name)));
    return `; there are ${shown.join(', ')}${names.size > MAX_NAMES ? ' and more' : ''}`;
  }

  plan({ batches, existing }: FilePersonalities): Promise<Planned[]> {
    return planImport(this.files, batches, existing);
  }

  write(caller: Caller, { batches }: FilePersonalities, plan: readonly Planned[]): Promise<void> {
    const table: ImportTable<PersonalityBatch> = {
      changed: (batch) => this.files.changed(batch),
      insert: (batch) => this.files.insert(caller, batch),
      update: (batch) => this.files.update(batch),
    };
    return writeImport(table, batches, plan);
  }

  /** The planned personalities, with the other agents whose callers an update changes. */
  async describe(
    caller: Caller,
    agentId: string,
    file: CheckedFile,
    plan: readonly Planned[],
    dryRun: boolean,
  ): Promise<ImportedPersonality[]> {
    const updated = plan.flatMap(({ id, action }) => (action === 'updated' ? id : []));
    const users = await this.otherAgents(caller, agentId, updated);
    return plan.map(({ id, action }, index) => ({
      name: file.personalities[index]?.name ?? '',
      id: action === 'created' && dryRun ? null : id,
      action,
      ...(users.get(id) ?? { otherAgents: [], otherAgentCount: 0 }),
    }));
  }

  private async otherAgents(
    caller: Caller,
    agentId: string,
    personalityIds: readonly string[],
  ): Promise<Map<string, { otherAgents: UsingAgent[]; otherAgentCount: number }>> {
    if (personalityIds.length === 0) return new Map();
    const agents = new Map((await this.agents.names(caller)).map((agent) => [agent.id, agent]));
    agents.delete(agentId);
    const users = await this.repository.users([...agents.keys()], personalityIds, MAX_AGENTS);
    return new Map(
      users.map(({ personalityId, agents: ids, total }) => [
        personalityId,
        { otherAgents: ids.flatMap((id) => agents.get(id) ?? []), otherAgentCount: total },
      ]),
    );
  }
}
