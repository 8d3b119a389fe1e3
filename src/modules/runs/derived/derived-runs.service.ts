import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { clipped, count } from '../../../../libs/text/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { requireOwned } from '../../../platform/access/ownership.js';
import { Database } from '../../../platform/database/database.js';
import { uuidOrNotFound } from '../../../platform/database/ids.js';
import { sequentialIds } from '../../../platform/database/sequential-ids.js';
import { conflict } from '../../../platform/errors/domain-error.js';
import { Queue } from '../../../platform/queue/queue.js';
import { AgentsService } from '../../agents/agents.service.js';
import { BaselinesService } from '../comparison/baselines.service.js';
import type { RunDetails } from '../dto/run.responses.js';
import { SLOTS, slotJobs } from '../execution/slot-job.js';
import { hasEnded, type RunEntity } from '../run.entity.js';
import { RunsRepository } from '../runs.repository.js';
import { toDetails } from '../runs.service.js';
import { requireQueueCapacity } from '../start/queue-capacity.js';
import { StartRepository } from '../start/start.repository.js';
import { type DerivedPlan, derivedPlan } from './derived-plan.js';
import { DerivedRunsRepository } from './derived-runs.repository.js';

const MAX_NAME = 255;

/** Starts runs that judge the calls of another one again, without calling the agent. */
@Injectable()
export class DerivedRunsService {
  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly runs: RunsRepository,
    private readonly starts: StartRepository,
    private readonly repository: DerivedRunsRepository,
    private readonly agents: AgentsService,
    private readonly baselines: BaselinesService,
  ) {}

  /**
   * Starts a run that judges the recorded calls of an ended run again, by the definitions of this version.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the run; CONFLICT if it has not ended, its agent was deleted, or none of
   *   its calls has a recording that can be measured again
   */
  async remeasure(caller: Caller, runId: string): Promise<RunDetails> {
    return this.database.transaction(async () => {
      const source = requireOwned(caller, await this.runs.find(uuidOrNotFound(runId)));
      if (!hasEnded(source.status)) throw conflict('The run has not ended yet');
      if (await this.agents.isDeleted(source.agentId)) throw conflict('The agent of the run was deleted');
      // The lock prevents the agent from being deleted concurrently.
      await this.agents.describe(caller, source.agentId, { lock: true });
      await requireQueueCapacity(this.starts, source.agentId);
      const recorded = await this.repository.recorded(source.id);
      if (recorded.length === 0) {
        // A run without calls was deleted since it was read.
        requireOwned(caller, await this.runs.find(source.id));
        throw conflict('No call of the run has a recording that can be measured again');
      }
      return this.write(caller, source, derivedPlan(recorded, source.repeat));
    });
  }

  private async write({ userId }: Caller, source: RunEntity, plan: DerivedPlan): Promise<RunDetails> {
    const { workspaceId, agentId, repeat, concurrency, agentVersion, medium, agentSnapshot, baselineRunId } = source;
    const { minimumScore, minimumPassRate, allowedUncounted, notWorseThan } = source;
    const totalCalls = plan.calls.length;
    const run = await this.starts.insertRun({
      ...{ id: randomUUID(), workspaceId, agentId, userId, totalCalls, repeat, concurrency, agentVersion, medium },
      ...{ minimumScore, minimumPassRate, allowedUncounted, notWorseThan, baselineRunId, agentSnapshot },
      name: clipped(`Remeasured: ${source.name}`, MAX_NAME),
      derivedFrom: source.id,
      derivedKind: 'remeasure',
      warnings: leftOut(source.totalCalls - totalCalls),
    });
    // Lists are sorted by descending creation time and id: descending ids list the calls in plan order.
    await this.repository.insert(run.id, source.id, plan, sequentialIds(totalCalls).reverse());
    await this.baselines.store(run.id, await this.baselines.ofDerived(source));
    const slots = slotJobs('voice', { id: agentId, workspaceId }, Math.min(concurrency, totalCalls), run.id);
    await this.queue.enqueueAll(SLOTS.voice, slots);
    return toDetails(run, { pending: totalCalls });
  }
}

/** @param calls number of calls */
const leftOut = (calls: number): string[] =>
  calls === 0 ? [] : [`${count(calls, 'call')} of the run left out: no recording that can be measured again.`];
