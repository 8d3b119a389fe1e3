import { Inject, Injectable } from '@nestjs/common';
import { caseState, latencyMeasures } from '../../../libs/statistics/index.js';
import { caseName } from '../../../libs/text/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { type Page, type PageRequest, window } from '../../platform/database/page.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import type { RunEntity } from '../runs/run.entity.js';
import { RunsService } from '../runs/runs.service.js';
import { CaseHistoryRepository, type CaseResultRow } from './case-history.repository.js';
import type { CaseResult } from './dto/case-history.response.js';
import { testerOf } from './tester.js';

export { IS_OF_TESTS } from './case-history.repository.js';

/** Days after the end of its run for which the result of a case is kept. */
const RETENTION_DAYS = 400;

/** The results of an agent's cases over time. */
@Injectable()
export class CaseHistoryService {
  constructor(
    private readonly database: Database,
    private readonly repository: CaseHistoryRepository,
    private readonly runs: RunsService,
    private readonly agents: AgentsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Records how the cases of a run ended that called the agent. Call it in the transaction that ends the run. */
  async record(run: Pick<RunEntity, 'id'>): Promise<void> {
    const plan = await this.runs.cases(run.id);
    const cases = plan.map(({ caseKey, name, variables }) => ({ caseKey, name: caseName(name, variables, caseKey) }));
    const testers = { text: testerOf(this.settings, 'text'), voice: testerOf(this.settings, 'voice') };
    await this.repository.record(run, cases, testers);
  }

  /** Counts the calls of a run after some were added or deleted, also in its results if it has ended. */
  async recount(runId: string): Promise<void> {
    await this.runs.recount(runId);
    await this.repository.forgetRun(runId);
    await this.record({ id: runId });
  }

  /**
   * The results of a case, or of all cases of an evaluation, newest first.
   * @param key `caseKey` of the case, or key of the evaluation
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent; NOT_FOUND without a result
   */
  async history(caller: Caller, agentId: string, key: string, query: PageRequest): Promise<Page<CaseResult>> {
    await this.agents.require(caller, agentId);
    const { page, limit, offset } = window(query);
    // No key has U+0000, which the database refuses.
    if (key.includes('\0')) throw notFound();
    const { rows, total } = await this.repository.page(agentId, key, { limit, offset });
    if (total === 0) throw notFound();
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Stores which version of its agent a run calls, unless it is known; also in its results if it has ended. */
  async setAgentVersion(runId: string, version: string): Promise<void> {
    await this.database.transaction(async () => {
      // The run first, in the same order as ending it: its results are written by then, or get the version from it.
      await this.runs.setAgentVersion(runId, version);
      await this.repository.setAgentVersion(runId, version);
    });
  }

  /** Deletes the results of a run that is deleted on request. */
  forgetRun(runId: string): Promise<void> {
    return this.repository.forgetRun(runId);
  }

  /** Deletes a batch of the results of an agent that is being erased. @returns their number */
  eraseAgent(agentId: string): Promise<number> {
    return this.repository.eraseAgent(agentId);
  }

  /** Deletes a batch of results that are too old. @returns their number */
  deleteExpired(): Promise<number> {
    return this.repository.deleteExpired(RETENTION_DAYS);
  }
}

function toResponse({ passed, failed, invalid, error, latencies, ...row }: CaseResultRow): CaseResult {
  const { runId, callId, caseKey, evaluationKey, name, endedAt, agentVersion, scheduleId } = row;
  return {
    ...{ runId, callId, caseKey, key: evaluationKey, name, endedAt: endedAt.toISOString(), agentVersion, scheduleId },
    state: caseState({ passed, failed }),
    outcomes: { passed, failed, invalid, error },
    passRate: passed + failed === 0 ? null : passed / (passed + failed),
    latency: latencyMeasures(latencies),
  };
}
