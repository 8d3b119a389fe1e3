import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { own } from '../../platform/access/ownership.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { type Page, type PageRequest, window } from '../../platform/database/page.js';
import { AgentsService } from '../agents/agents.service.js';
import type { Evaluation } from './dto/evaluation.response.js';
import type { EvaluationEntity } from './evaluation.entity.js';
import { EvaluationsRepository } from './evaluations.repository.js';

/** The test scenarios of an agent. */
@Injectable()
export class EvaluationsService {
  constructor(
    private readonly repository: EvaluationsRepository,
    private readonly agents: AgentsService,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN, of the agent */
  async list(caller: Caller, agentId: string, query: PageRequest): Promise<Page<Evaluation>> {
    await this.agents.require(caller, agentId);
    const { page, limit, offset } = window(query);
    const { rows, total } = await this.repository.page(agentId, { limit, offset });
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Readable after its agent was deleted. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's */
  async get(caller: Caller, id: string): Promise<Evaluation> {
    return toResponse(own(caller, await this.repository.find(uuidOrNotFound(id))));
  }
}

function toResponse(row: EvaluationEntity): Evaluation {
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
  };
}
