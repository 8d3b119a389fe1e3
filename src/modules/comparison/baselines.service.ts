import { Injectable } from '@nestjs/common';
import type { GateInput } from '../../../libs/statistics/index.js';
import { caseName } from '../../../libs/text/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { about, conflict, invalidInput } from '../../platform/errors/domain-error.js';
import type { EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import type { RunEntity } from '../runs/run.entity.js';
import { hasEnded, RunsService } from '../runs/runs.service.js';
import { type ComparedRun, ComparisonRepository } from './comparison.repository.js';
import type { BaselineFigures } from './run-baseline.entity.js';

/** The runs that a new run is compared with, with their figures at its start; null for none. */
export interface Baselines {
  /** The run of `notWorseThan`. */
  readonly gate: BaselineFigures | null;
  /** The agent's previous run, whether its gate was met or not; of a derived run the one that it was derived from. */
  readonly previous: BaselineFigures | null;
}

interface Planned {
  readonly snapshot: Pick<EvaluationSnapshot, 'provisional'>;
  readonly cases: readonly { readonly key: string }[];
}

/** Finds the runs that a run is compared with, and keeps their figures, so that deleting them changes nothing. */
@Injectable()
export class BaselinesService {
  constructor(
    private readonly repository: ComparisonRepository,
    private readonly runs: RunsService,
  ) {}

  /**
   * @param notWorseThan `previous`, the id of a run, or null
   * @throws DomainError BAD_REQUEST if the run is unknown, of another agent or shares no case with the plan; FORBIDDEN
   *   for another workspace's run; CONFLICT if it has not ended
   */
  async find(
    caller: Caller,
    agentId: string,
    notWorseThan: string | null,
    evaluations: readonly Planned[],
  ): Promise<Baselines> {
    const cases = keysOf(evaluations);
    const previous = await this.figures(await this.repository.findPrevious(agentId, cases));
    if (notWorseThan === null) return { gate: null, previous };
    if (notWorseThan === 'previous') {
      return { gate: await this.figures(await this.repository.findCompleted(agentId, cases)), previous };
    }
    const [gate] = await this.repository.figures([await this.requireRun(caller, agentId, notWorseThan)]);
    if (!sharesCase(gate!, cases))
      throw invalidInput(about('notWorseThan', 'must be a run that has one of the cases to run'));
    return { gate: gate!, previous };
  }

  /** A rerun keeps the baseline of the gate of the earlier run. */
  async ofRerun(run: Pick<RunEntity, 'id' | 'agentId'>, evaluations: readonly Planned[]): Promise<Baselines> {
    return {
      gate: (await this.repository.findBaseline(run.id, 'gate')) ?? null,
      previous: await this.figures(await this.repository.findPrevious(run.agentId, keysOf(evaluations))),
    };
  }

  /** A run that judges the calls of another one again has the gate of that run, and is compared with it. */
  async ofDerived(run: RunEntity): Promise<Baselines> {
    return {
      gate: (await this.repository.findBaseline(run.id, 'gate')) ?? null,
      previous: await this.figures(run),
    };
  }

  /** The cases of a run, and the run of its gate with its figures; nothing without a gate that compares. */
  async ofGate({
    id,
    notWorseThan,
  }: Pick<RunEntity, 'id' | 'notWorseThan'>): Promise<Pick<GateInput, 'cases' | 'baseline'>> {
    if (notWorseThan === null) return { cases: [], baseline: null };
    const planned = await this.repository.cases(id);
    const cases = planned.map(({ caseKey, name, variables }) => ({
      caseKey,
      name: caseName(name, variables, caseKey),
    }));
    return { cases, baseline: (await this.repository.findBaseline(id, 'gate')) ?? null };
  }

  async store(runId: string, { gate, previous }: Baselines): Promise<void> {
    if (gate) await this.repository.insertBaseline(runId, 'gate', gate);
    if (previous) await this.repository.insertBaseline(runId, 'previous', previous);
  }

  private async figures(run: ComparedRun | undefined): Promise<BaselineFigures | null> {
    return run ? (await this.repository.figures([run]))[0]! : null;
  }

  private async requireRun(caller: Caller, agentId: string, id: string): Promise<RunEntity> {
    const found = await this.runs.find(id);
    if (!found) throw invalidInput(about('notWorseThan', 'is not the id of a run'));
    const run = requireOwned(caller, found);
    if (run.agentId !== agentId) throw invalidInput(about('notWorseThan', 'must be a run of the same agent'));
    if (run.day !== null)
      throw conflict('The run of notWorseThan has production calls: their callers are others each day');
    if (run.derivedFrom !== null || run.isImported)
      throw invalidInput(about('notWorseThan', 'must be a run that called the agent'));
    if (!hasEnded(run.status)) throw conflict('The run of notWorseThan has not ended yet');
    return run;
  }
}

const keysOf = (evaluations: readonly Planned[]): string[] =>
  evaluations.flatMap(({ snapshot, cases }) => (snapshot.provisional ? [] : cases.map(({ key }) => key)));

export function sharesCase(figures: BaselineFigures, cases: readonly string[]): boolean {
  const known = new Set(cases);
  return figures.cases.some(({ caseKey }) => known.has(caseKey));
}
