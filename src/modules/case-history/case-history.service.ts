import { Inject, Injectable } from '@nestjs/common';
import { caseName } from '../../../libs/text/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import type { RunEntity } from '../runs/run.entity.js';
import { RunsService } from '../runs/runs.service.js';
import { CaseHistoryRepository } from './case-history.repository.js';
import { testerOf } from './tester.js';

/** Days after the end of its run for which the result of a case is kept. */
const RETENTION_DAYS = 400;

/** The results of an agent's cases over time. */
@Injectable()
export class CaseHistoryService {
  constructor(
    private readonly repository: CaseHistoryRepository,
    private readonly runs: RunsService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Records how the cases of a run ended that called the agent. Call it in the transaction that ends the run. */
  async record(run: Pick<RunEntity, 'id'>): Promise<void> {
    const plan = await this.runs.cases(run.id);
    const cases = plan.map(({ caseKey, name, variables }) => ({ caseKey, name: caseName(name, variables, caseKey) }));
    const testers = { text: testerOf(this.settings, 'text'), voice: testerOf(this.settings, 'voice') };
    await this.repository.record(run, cases, testers);
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
