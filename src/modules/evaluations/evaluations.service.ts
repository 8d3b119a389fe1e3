import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import {
  authored,
  type AuthoredEvaluation,
  evaluationViolations,
  type EvaluationInput,
  normalise,
  normaliseCondition,
  normaliseRow,
  type Scope,
} from '../../../libs/evaluation-definition/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { isUniqueViolation } from '../../platform/database/failures.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { about, DomainError, forbidden, invalidInput, notFound } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import { PersonalitiesService } from '../personalities/personalities.service.js';
import type { Evaluation } from './dto/evaluation.response.js';
import { EvaluationEntity } from './evaluation.entity.js';
import { EvaluationsRepository } from './evaluations.repository.js';

/** Selects evaluations by id, by tag or by scope (at least one matches); all if none is given. */
export interface EvaluationSelection {
  readonly ids?: readonly string[];
  readonly keys?: readonly string[];
  readonly tags?: readonly string[];
  readonly scopes?: readonly Scope[];
}

/** Maximum number of JSON characters of all evaluations of one run. */
const MAX_SELECTED_SIZE = 20_000_000;
const BATCH_SIZE = 100;

export type SelectedEvaluation = AuthoredEvaluation & { readonly id: string; readonly provisional: boolean };

/** A change; `provisional: false` ends that the evaluation is provisional. */
export type EvaluationChange = Partial<EvaluationInput> & { readonly provisional?: false };

/** The evaluations of an agent. */
@Injectable()
export class EvaluationsService {
  constructor(
    private readonly database: Database,
    private readonly repository: EvaluationsRepository,
    private readonly agents: AgentsService,
    private readonly personalities: PersonalitiesService,
  ) {}

  /**
   * @param input already validated on its own
   * @param originCallId the call that it was made from: then it is provisional
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent, BAD_REQUEST or FORBIDDEN for the personality, CONFLICT for
   *   the key
   */
  async create(
    caller: Caller,
    agentId: string,
    input: EvaluationInput,
    originCallId: string | null = null,
  ): Promise<Evaluation> {
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
      originCallId,
      provenAt: null,
    });
    return toResponse(await rejectDuplicateKey(() => manager.save(Object.assign(row, evaluation))));
  }

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async list(caller: Caller, agentId: string, query: PageRequest): Promise<Page<Evaluation>> {
    await this.agents.require(caller, agentId);
    return listPage(query, toResponse, (rows) => this.repository.page(agentId, rows));
  }

  /** Also returns evaluations of deleted agents. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's */
  async get(caller: Caller, id: string): Promise<Evaluation> {
    return toResponse(requireOwned(caller, await this.repository.find(uuidOrNotFound(id))));
  }

  /**
   * @param changes already validated on their own; the resulting evaluation is validated here
   * @throws DomainError as `get` and `create` do
   */
  async update(caller: Caller, id: string, { provisional, ...changes }: EvaluationChange): Promise<Evaluation> {
    return this.database.transaction(async (manager) => {
      // Locked, so that of two concurrent updates the second is validated with the changes of the first.
      const { id: found } = await this.get(caller, id);
      const where = { id: found, deletedAt: IsNull() };
      const row = requireOwned(
        caller,
        await manager.findOne(EvaluationEntity, { where, lock: { mode: 'pessimistic_write' } }),
      );
      const before = row.personalityId;
      const changed: AuthoredEvaluation = authored({ ...contentOf(row), ...changes }, row.vendorCallPhoneNumber);
      const [issue, ...more] = evaluationViolations(changed);
      if (issue !== undefined) throw invalidInput(issue, ...more);
      // A personality that was deleted since can be kept, but not assigned.
      if (changed.personalityId !== before) await this.requirePersonality(caller, changed.personalityId);
      const provenAt = provisional === false && isProvisional(row) ? new Date() : row.provenAt;
      return toResponse(await rejectDuplicateKey(() => manager.save(Object.assign(row, changed, { provenAt }))));
    });
  }

  /** Soft delete: its calls are kept. @throws DomainError as `get` does */
  async delete(caller: Caller, id: string): Promise<void> {
    const row = requireOwned(caller, await this.repository.find(uuidOrNotFound(id)));
    if (!(await this.repository.softDelete(row.id))) throw notFound();
  }

  /** They have failed in a run: what they find is known. */
  prove(ids: readonly string[]): Promise<void> {
    return this.repository.prove(ids);
  }

  /** Deletes the evaluations of an agent for good that were made from a call that was recorded elsewhere. */
  erasePromoted(agentId: string, externalId: string): Promise<void> {
    return this.repository.erasePromoted(agentId, externalId);
  }

  /** Deletes a batch of the evaluations of an agent that is being erased. @returns their number */
  eraseAgent(agentId: string): Promise<number> {
    return this.repository.eraseAgent(agentId);
  }

  /**
   * The selected evaluations of an agent, oldest first.
   * @throws DomainError BAD_REQUEST for an id or key that is not an evaluation of the agent, or if the total is too large;
   *   FORBIDDEN for an evaluation of another workspace
   */
  async select(caller: Caller, agentId: string, selection: EvaluationSelection): Promise<SelectedEvaluation[]> {
    const { ids, keys } = selection;
    if (ids) await this.requireEvaluations(caller, agentId, ids);
    const chosen = await this.repository.select(agentId, {
      ...selection,
      ids: ids ?? (keys && (await this.idsOf(agentId, keys))),
    });
    const selected: SelectedEvaluation[] = [];
    let size = 0;
    // In batches, because all of them together may not fit into memory.
    for (let at = 0; at < chosen.length; at += BATCH_SIZE) {
      for (const row of await this.repository.read(chosen.slice(at, at + BATCH_SIZE))) {
        const evaluation = { id: row.id, ...contentOf(row), provisional: isProvisional(row) };
        size += JSON.stringify(evaluation).length;
        if (size > MAX_SELECTED_SIZE) {
          const limit = MAX_SELECTED_SIZE / 1e6;
          throw invalidInput(
            about('evaluationIds', `must select evaluations of at most ${limit} million characters together`),
          );
        }
        selected.push(evaluation);
      }
    }
    return selected;
  }

  /** Whether the agent has an evaluation with one of these scopes, or with this key. */
  isThere(agentId: string, wanted: { readonly scopes: readonly Scope[]; readonly key: string }): Promise<boolean> {
    return this.repository.isThere(agentId, wanted.scopes, wanted.key);
  }

  private async requireEvaluations(caller: Caller, agentId: string, ids: readonly string[]): Promise<void> {
    const owners = await this.repository.owners(ids);
    const byId = new Map(owners.map((owner) => [owner.id, owner]));
    if (owners.some(({ workspaceId }) => workspaceId !== caller.workspaceId)) throw forbidden();
    const [issue, ...more] = ids.flatMap((id, index) =>
      byId.get(id.toLowerCase())?.agentId === agentId
        ? []
        : [`evaluationIds.${index} is not the id of an evaluation of the agent`],
    );
    if (issue !== undefined) throw invalidInput(issue, ...more);
  }

  private async idsOf(agentId: string, keys: readonly string[]): Promise<string[]> {
    const found = await this.repository.idsByKey(agentId, keys);
    const [issue, ...more] = keys.flatMap((key, index) =>
      found.has(key) ? [] : [`evaluationKeys.${index} is not the key of an evaluation of the agent`],
    );
    if (issue !== undefined) throw invalidInput(issue, ...more);
    return [...found.values()];
  }

  private async requirePersonality(caller: Caller, id: string): Promise<void> {
    const { unknown, foreign } = await this.personalities.unusable(caller, [id]);
    if (unknown.size > 0) throw invalidInput(about('personalityId', 'is not the id of a personality'));
    if (foreign.size > 0) throw forbidden();
  }
}

/** @throws DomainError CONFLICT when the write fails because another evaluation of the agent has its key */
export async function rejectDuplicateKey<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error, 'evaluations_key_key')) throw error;
    throw new DomainError('CONFLICT', undefined, [about('key', 'is used by another evaluation of the agent')], {
      cause: error,
    });
  }
}

/** Made from a call, and it has neither failed in a run nor been accepted since. */
const isProvisional = ({ originCallId, provenAt }: EvaluationEntity): boolean =>
  originCallId !== null && provenAt === null;

/** The authored fields, in documented order. */
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
    language: row.language,
    timezone: row.timezone,
    variables: row.variables.map(normaliseRow),
    scope: row.scope,
    // jsonb does not preserve the order of properties.
    appliesTo: row.appliesTo && normaliseCondition(row.appliesTo),
    ...normalise(row),
  };
}

function toResponse(row: EvaluationEntity): Evaluation {
  const { key, critical, tags, script, checks, criteria, maxTurns, maxDurationSeconds, ...more } = contentOf(row);
  const { language, timezone, variables, history, toolResults, conditions, turnEndMs, fillers, agentVariables } = more;
  const { scope, appliesTo } = more;
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
    language,
    timezone,
    variables,
    history,
    toolResults,
    conditions,
    turnEndMs,
    fillers,
    agentVariables,
    scope,
    appliesTo,
    origin: row.originCallId === null ? null : { callId: row.originCallId },
    provisional: isProvisional(row),
    provenAt: row.provenAt?.toISOString() ?? null,
  };
}
