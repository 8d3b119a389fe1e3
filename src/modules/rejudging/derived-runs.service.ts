import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { caseName, clipped, count } from '../../../libs/text/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { sequentialIds } from '../../platform/database/sequential-ids.js';
import { conflict } from '../../platform/errors/domain-error.js';
import { AgentsService } from '../agents/agents.service.js';
import { BaselinesService } from '../comparison/baselines.service.js';
import type { RunDetails } from '../runs/dto/run.responses.js';
import type { DerivedKind, RunEntity } from '../runs/run.entity.js';
import { hasEnded, RunsService, toDetails } from '../runs/runs.service.js';
import { RunWriterService } from '../starts/run-writer.service.js';
import { type DerivedPlan, derivedPlan, type PlannedCall } from './derived-plan.js';
import { DerivedRunsRepository } from './derived-runs.repository.js';

const MAX_NAME = 255;
const PREFIXES: Readonly<Record<DerivedKind, string>> = { remeasure: 'Remeasured', rejudge: 'Rejudged' };
/** What calls that are left out do not have. */
const MISSING: Readonly<Record<DerivedKind, string>> = {
  remeasure: 'recording that can be measured again',
  rejudge: 'result that can be judged again',
};
const NO_MODEL = 'No language model is configured: set LLM_BASE_URL and LLM_MODEL';
const TRANSCRIPTS_DELETED =
  'The texts of the calls of the run were deleted (TRANSCRIPT_RETENTION_DAYS), so they cannot be judged again';
const NOTHING_TO_JUDGE = 'The evaluations of the run have no criteria, and no caller without a script';

/** Starts runs that judge the calls of another one again, without calling the agent. */
@Injectable()
export class DerivedRunsService {
  constructor(
    private readonly database: Database,
    private readonly runs: RunsService,
    private readonly writer: RunWriterService,
    private readonly repository: DerivedRunsRepository,
    private readonly agents: AgentsService,
    private readonly baselines: BaselinesService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Starts a run that judges the recorded calls of an ended run again, by the definitions of this version.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the run; CONFLICT if it has not ended, its agent was deleted, or none of
   *   its calls has a recording that can be measured again
   */
  async remeasure(caller: Caller, runId: string): Promise<RunDetails> {
    return this.derive(caller, runId, 'remeasure', (id) => this.repository.recorded(id));
  }

  /**
   * Starts a run that judges the criteria of an ended run again, by their text and the language model of today.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the run; CONFLICT without a language model, if the run has not ended, its
   *   agent was deleted, or it has nothing to judge
   */
  async rejudge(caller: Caller, runId: string): Promise<RunDetails> {
    return this.derive(caller, runId, 'rejudge', (id) => this.repository.judged(id));
  }

  private async derive(
    caller: Caller,
    runId: string,
    kind: DerivedKind,
    find: (runId: string) => Promise<PlannedCall[]>,
  ): Promise<RunDetails> {
    return this.database.transaction(async () => {
      const source = await this.runs.require(caller, runId);
      if (kind === 'rejudge' && !this.settings.languageModel) throw conflict(NO_MODEL);
      if (!hasEnded(source.status)) throw conflict('The run has not ended yet');
      if (await this.agents.isDeleted(source.agentId)) throw conflict('The agent of the run was deleted');
      // The lock prevents the agent from being deleted concurrently.
      await this.agents.describe(caller, source.agentId, { lock: true });
      await this.writer.requireRoom(source.agentId);
      const calls = await find(source.id);
      if (calls.length === 0) {
        // A run without calls was deleted since it was read.
        await this.runs.require(caller, source.id);
        if (await this.repository.hasDeletedTranscripts(source.id)) throw conflict(TRANSCRIPTS_DELETED);
        throw conflict(`No call of the run has a ${MISSING[kind]}`);
      }
      const run = await this.write(caller, source, kind, derivedPlan(calls, source.repeat));
      if (kind === 'rejudge' && !(await this.repository.needsJudge(run.id))) throw conflict(NOTHING_TO_JUDGE);
      return run;
    });
  }

  private async leftOutCritical(sourceId: string, { calls }: DerivedPlan): Promise<string[]> {
    const kept = calls.map(({ id }) => id);
    const cases = await this.repository.criticalWithout(sourceId, kept);
    return cases.map(({ name, variables, caseKey }) => caseName(name, variables, caseKey));
  }

  private async write(
    { userId }: Caller,
    source: RunEntity,
    kind: DerivedKind,
    plan: DerivedPlan,
  ): Promise<RunDetails> {
    const { workspaceId, agentId, repeat, concurrency, agentVersion, medium, agentSnapshot, baselineRunId } = source;
    const { minimumScore, minimumPassRate, allowedUncounted, notWorseThan } = source;
    const totalCalls = plan.calls.length;
    const kept = plan.calls.map(({ id }) => id);
    const left = await this.repository.callsWithout(source.id, kept);
    const renamed = kind === 'rejudge' ? await this.repository.withRenamedVariables(source.id) : [];
    const run = await this.runs.create({
      ...{ id: randomUUID(), workspaceId, agentId, userId, totalCalls, repeat, concurrency, agentVersion, medium },
      ...{ minimumScore, minimumPassRate, allowedUncounted, notWorseThan, baselineRunId, agentSnapshot },
      name: clipped(`${PREFIXES[kind]}: ${source.name}`, MAX_NAME),
      derivedFrom: source.id,
      derivedKind: kind,
      origin: source.origin,
      warnings: [...leftOut(left, kind), ...renamed.map(notOfToday)],
    });
    // Lists are sorted by descending creation time and id: descending ids list the calls in plan order.
    await this.repository.insert(
      run,
      source.id,
      plan,
      sequentialIds(totalCalls).reverse(),
      renamed.map(({ id }) => id),
    );
    await this.repository.setLeftOut(run.id, source.leftOutCalls + left, [
      ...source.leftOutCritical,
      ...(await this.leftOutCritical(source.id, plan)),
    ]);
    await this.baselines.store(run.id, await this.baselines.ofDerived(source));
    await this.writer.announce();
    return toDetails(run, { pending: totalCalls });
  }
}

/** @param calls number of calls */
const leftOut = (calls: number, kind: DerivedKind): string[] =>
  calls === 0
    ? []
    : [`${count(calls, 'call')} of the run left out, which the gate counts as not tested: no ${MISSING[kind]}.`];

const notOfToday = ({ name }: { readonly name: string }): string =>
  `The criteria of "${clipped(name, MAX_NAME)}" are those of the run: the names of its variables have changed since.`;
