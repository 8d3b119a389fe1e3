import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import {
  authored,
  type AuthoredEvaluation,
  evaluationViolations,
  type EvaluationInput,
  normalise,
} from '../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { isUniqueViolation } from '../../platform/database/failures.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { type Page, type PageRequest, window } from '../../platform/database/page.js';
import { DomainError, forbidden, invalidInput, notFound } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import { PersonalitiesService } from '../personalities/personalities.service.js';
import type { Evaluation } from './dto/evaluation.response.js';
import { EvaluationEntity } from './evaluation.entity.js';
import { EvaluationsRepository } from './evaluations.repository.js';

/** Which evaluations: those with these ids, or with one of these tags at least; without both, all. */
export interface EvaluationSelection {
  readonly ids?: readonly string[];
  readonly tags?: readonly string[];
}

/** Characters of all evaluations of one run, as JSON. */
const MAX_SELECTED_SIZE = 20_000_000;
const SELECTED_AT_ONCE = 100;

export type SelectedEvaluation = AuthoredEvaluation & { readonly id: string };

/** The test scenarios of an agent. */
@Injectable()
export class EvaluationsService {
  constructor(
    private readonly database: Database,
    private readonly repository: EvaluationsRepository,
    private readonly agents: AgentsService,
    private readonly personalities: PersonalitiesService,
  ) {}

  /**
   * @param input without a fault of its own
   * @throws DomainError NOT_FOUND or FORBIDDEN of the agent, BAD_REQUEST or FORBIDDEN of the personality, CONFLICT of the key
   */
  async create(caller: Caller, agentId: string, input: EvaluationInput): Promise<Evaluation> {
    const agent = await this.agents.describe(caller, agentId);
    const evaluation = authored(input, agent.phoneNumber ?? '');
    await this.requirePersonality(caller, evaluation.personalityId);
    const { manager } = this.database;
    const row = manager.create(EvaluationEntity, {
      id: randomUUID(),
      workspaceId: caller.workspaceId,
      agentId: agent.id,
      createdByUserId: caller.userId,
      deletedAt: null,
    });
    return toResponse(await keyIsFree(() => manager.save(Object.assign(row, evaluation))));
  }

  /** @throws DomainError NOT_FOUND or FORBIDDEN, of the agent */
  async list(caller: Caller, agentId: string, query: PageRequest): Promise<Page<Evaluation>> {
    await this.agents.require(caller, agentId);
    const { page, limit, offset } = window(query);
    const { rows, total } = await this.repository.page(agentId, { limit, offset });
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Readable after its agent was deleted. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's */
  async get(caller: Caller, id: string): Promise<Evaluation> {
    return toResponse(requireOwned(caller, await this.repository.find(uuidOrNotFound(id))));
  }

  /**
   * @param changes without a fault of their own; together with what they leave as it is they may have some
   * @throws DomainError as `get` and `create` do
   */
  async update(caller: Caller, id: string, changes: Partial<EvaluationInput>): Promise<Evaluation> {
    return this.database.transaction(async (manager) => {
      // Locked, so that of two updates at once the second is judged together with the first.
      const where = { id: uuidOrNotFound(id), deletedAt: IsNull() };
      const row = requireOwned(
        caller,
        await manager.findOne(EvaluationEntity, { where, lock: { mode: 'pessimistic_write' } }),
      );
      const before = row.personalityId;
      const changed: AuthoredEvaluation = authored({ ...contentOf(row), ...changes }, row.vendorCallPhoneNumber);
      const [issue, ...more] = evaluationViolations(changed);
      if (issue !== undefined) throw invalidInput(issue, ...more);
      // One that was deleted since may stay, but not be chosen anew.
      if (changed.personalityId !== before) await this.requirePersonality(caller, changed.personalityId);
      return toResponse(await keyIsFree(() => manager.save(Object.assign(row, changed))));
    });
  }

  /** Soft: calls that were made of it stay as they are. @throws DomainError as `get` does */
  async delete(caller: Caller, id: string): Promise<void> {
    const row = requireOwned(caller, await this.repository.find(uuidOrNotFound(id)));
    if (!(await this.repository.softDelete(row.id))) throw notFound();
  }

  /**
   * The evaluations of an agent that a run is to carry out, oldest first.
   * @throws DomainError BAD_REQUEST for an id that names no evaluation of the agent, or for too much text together;
   *   FORBIDDEN for another workspace's
   */
  async select(caller: Caller, agentId: string, { ids, tags }: EvaluationSelection): Promise<SelectedEvaluation[]> {
    if (ids) await this.requireEvaluations(caller, agentId, ids);
    const chosen = await this.repository.select(agentId, ids ?? null, tags ?? null);
    const selected: SelectedEvaluation[] = [];
    let size = 0;
    // In parts: together they may be larger than the memory.
    for (let at = 0; at < chosen.length; at += SELECTED_AT_ONCE) {
      for (const row of await this.repository.read(chosen.slice(at, at + SELECTED_AT_ONCE))) {
        const evaluation = { id: row.id, ...contentOf(row) };
        size += JSON.stringify(evaluation).length;
        if (size > MAX_SELECTED_SIZE) {
          const limit = MAX_SELECTED_SIZE / 1e6;
          throw invalidInput(`evaluationIds must select evaluations of at most ${limit} million characters together`);
        }
        selected.push(evaluation);
      }
    }
    return selected;
  }

  private async requireEvaluations(caller: Caller, agentId: string, ids: readonly string[]): Promise<void> {
    const owners = await this.repository.owners(ids);
    const byId = new Map(owners.map((owner) => [owner.id, owner]));
    if (owners.some(({ workspaceId }) => workspaceId !== caller.workspaceId)) throw forbidden();
    const [issue, ...more] = ids.flatMap((id, index) =>
      byId.get(id.toLowerCase())?.agentId === agentId
        ? []
        : [`evaluationIds.${index} names no evaluation of the agent`],
    );
    if (issue !== undefined) throw invalidInput(issue, ...more);
  }

  private async requirePersonality(caller: Caller, id: string): Promise<void> {
    const { unknown, foreign } = await this.personalities.unusable(caller, [id]);
    if (unknown.size > 0) throw invalidInput('personalityId names no personality');
    if (foreign.size > 0) throw forbidden();
  }
}

/** @throws DomainError CONFLICT when the write fails because another evaluation of the agent has its key */
export async function keyIsFree<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error, 'evaluations_key_key')) throw error;
    throw new DomainError('CONFLICT', undefined, ['key is used by another evaluation of the agent'], { cause: error });
  }
}

/** What people wrote of it, with its fields in the order in which they are documented. */
export function contentOf(row: EvaluationEntity): AuthoredEvaluation {
  return {
    key: row.key,
    name: row.name,
    scenarioText: row.scenarioText,
    generalInstructions: row.generalInstructions,
    personalityId: row.personalityId,
    vendorCallPhoneNumber: row.vendorCallPhoneNumber,
    critical: row.critical,
    tags: row.tags,
    // jsonb keeps no order of names.
    ...normalise(row),
  };
}

function toResponse(row: EvaluationEntity): Evaluation {
  const { key, critical, tags, script, checks, criteria, maxTurns, maxDurationSeconds } = contentOf(row);
  return {
    id: row.id,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    name: row.name,
    scenarioText: row.scenarioText,
    generalInstructions: row.generalInstructions,
    personalityId: row.personalityId,
    agentId: row.agentId,
    createdByUserId: row.createdByUserId,
    workspaceId: row.workspaceId,
    vendorCallPhoneNumber: row.vendorCallPhoneNumber,
    key,
    critical,
    tags,
    script,
    checks,
    criteria,
    maxTurns,
    maxDurationSeconds,
  };
}
