import { Injectable } from '@nestjs/common';
import { sequentialIds } from '../../platform/database/sequential-ids.js';
import { conflict } from '../../platform/errors/domain-error.js';
import type { CallEntity } from '../runs/call.entity.js';
import type { RunEntity } from '../runs/run.entity.js';
import { type NewRun, RunsService } from '../runs/runs.service.js';
import type { PlannedEvaluation } from './plan.js';
import { StartRepository } from './start.repository.js';

export type { PlannedEvaluation };

/** Maximum number of waiting calls of an agent; beyond it, no further run can be started. */
const MAX_WAITING_CALLS = 50_000;

/** Writes runs with their calls; all methods are called in one transaction. */
@Injectable()
export class RunWriterService {
  constructor(
    private readonly repository: StartRepository,
    private readonly runs: RunsService,
  ) {}

  /** Limits the waiting calls of an agent, because every claim searches them. @throws DomainError CONFLICT */
  async requireRoom(agentId: string): Promise<void> {
    if (await this.repository.isFull(agentId, MAX_WAITING_CALLS)) {
      throw conflict(
        `The agent has ${MAX_WAITING_CALLS} calls or more waiting; wait for its runs to end, or cancel some`,
      );
    }
  }

  /**
   * Writes a run, the snapshots of its evaluations and its calls, and announces them.
   * @param evaluations in plan order
   * @returns the run, and the ids of its calls in plan order
   */
  async write(
    planned: NewRun,
    evaluations: readonly PlannedEvaluation[],
    choice: Pick<CallEntity, 'protocol' | 'medium'>,
  ): Promise<{ run: RunEntity; callIds: readonly string[] }> {
    const run = await this.runs.create(planned);
    await this.repository.insertPlan(run, evaluations);
    // Lists are sorted by descending creation time and id: descending ids list the calls in plan order.
    const callIds = sequentialIds(run.totalCalls).reverse();
    await this.repository.insertCalls(run, evaluations, callIds, choice);
    await this.repository.announce();
    return { run, callIds };
  }

  /** Writes the run of a day of production without its calls: each evaluation has the positions of `repeat` of them. */
  async writeDay(planned: NewRun, evaluations: readonly PlannedEvaluation[]): Promise<RunEntity> {
    const run = await this.runs.create(planned);
    await this.repository.insertPlan(run, evaluations);
    return run;
  }

  /** Tells every process that executes calls that some are due, once the caller's transaction is committed. */
  announce(): Promise<void> {
    return this.repository.announce();
  }
}
