import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { own } from '../../platform/access/ownership.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { type Page, type PageRequest, window } from '../../platform/database/page.js';
import { AgentsService } from '../agents/agents.service.js';
import type { Run, RunMetrics } from './dto/run.responses.js';
import type { RunEntity } from './run.entity.js';
import { RunsRepository } from './runs.repository.js';

/** The runs of an agent. */
@Injectable()
export class RunsService {
  constructor(
    private readonly repository: RunsRepository,
    private readonly agents: AgentsService,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN, of the agent */
  async list(caller: Caller, agentId: string, query: PageRequest): Promise<Page<Run>> {
    await this.agents.require(caller, agentId);
    const { page, limit, offset } = window(query);
    const { rows, total } = await this.repository.page(agentId, { limit, offset });
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Readable after its agent was deleted. @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run */
  async metrics(caller: Caller, id: string): Promise<RunMetrics> {
    const { status, score, totalCalls } = own(caller, await this.repository.find(uuidOrNotFound(id)));
    return { status, score, totalCalls };
  }
}

function toResponse(row: RunEntity): Run {
  return {
    label: row.label,
    id: row.id,
    name: row.name,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    userId: row.userId,
    workspaceId: row.workspaceId,
    agentId: row.agentId,
  };
}
