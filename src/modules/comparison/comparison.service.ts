import { Injectable } from '@nestjs/common';
import { compareCases, comparisonWarnings } from '../../../libs/statistics/index.js';
import type { Caller } from '../../platform/access/caller.js';
import {
  about,
  conflict,
  DomainError,
  invalidInput,
  type Issue,
  notFound,
} from '../../platform/errors/domain-error.js';
import type { RunComparison } from './dto/comparison.responses.js';
import type { RunMatrix } from './dto/matrix.responses.js';
import type { RunEntity } from '../runs/run.entity.js';
import { hasEnded, RunsService } from '../runs/runs.service.js';
import { askedWarnings } from './asked.js';
import { ComparisonRepository } from './comparison.repository.js';
import { matrixOf } from './matrix.js';
import type { BaselineFigures } from './run-baseline.entity.js';
import {
  clockWarnings,
  comparedResult,
  comparedRun,
  evaluationOf,
  type OtherSide,
  type PlannedSide,
  platformWarnings,
  sharedFigures,
  sideOf,
  sum,
} from './sides.js';

/** Compares runs. */
@Injectable()
export class ComparisonService {
  constructor(
    private readonly repository: ComparisonRepository,
    private readonly runs: RunsService,
  ) {}

  /**
   * @param baseline id of the run to compare with, or `previous`
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; BAD_REQUEST without a shared case; CONFLICT if
   *   one of the runs has not ended
   */
  async compare(caller: Pick<Caller, 'workspaceId'>, id: string, baseline: string): Promise<RunComparison> {
    const { first, others } = await this.sides(caller, id, [baseline]);
    const comparison = await this.between(first, others[0]!);
    if (comparison.cases.length === 0)
      throw invalidInput(about('with', 'must be a run that shares a case with this one'));
    return comparison;
  }

  /**
   * @param others runs to compare the run with, as for `compare`
   * @throws DomainError as `compare` does, and BAD_REQUEST if a run is named twice
   */
  async matrix(caller: Pick<Caller, 'workspaceId'>, id: string, others: readonly string[]): Promise<RunMatrix> {
    const sides = await this.sides(caller, id, others);
    const matrix = matrixOf(sides.first, sides.others);
    const ids = matrix.runs.map((run) => run.id);
    if (new Set(ids).size < ids.length) throw invalidInput(about('with', 'must not name a run twice, nor this run'));
    for (const [index, { id: other }] of matrix.runs.entries()) {
      if (matrix.cases.some(({ results }) => results.some(({ runId }) => runId === other))) continue;
      throw invalidInput(
        about('with', `must be runs that share a case with this one; the one at position ${index} does not`),
      );
    }
    const warnings: string[] = [];
    for (const other of sides.others) {
      const asked = await this.asked(sides.first, other);
      warnings.push(...asked.map((warning) => `Compared with run "${other.figures.name}", ${warning}`));
    }
    return { ...matrix, warnings: [...matrix.warnings, ...warnings] };
  }

  /** @throws DomainError NOT_FOUND, FORBIDDEN or CONFLICT as `compare` does */
  private async sides(
    caller: Pick<Caller, 'workspaceId'>,
    id: string,
    named: readonly string[],
  ): Promise<{ first: PlannedSide; others: OtherSide[] }> {
    const run = await this.runs.require(caller, id);
    const others: (RunEntity | undefined)[] = [];
    for (const name of named) others.push(name === 'previous' ? undefined : await this.requireOther(caller, name));
    const known = others.filter((other) => other !== undefined);
    for (const each of [run, ...known]) if (!hasEnded(each.status)) throw conflict('The run has not ended yet');
    const [own, ...figures] = await this.repository.figures([run, ...known]);
    const sides: OtherSide[] = [];
    for (const other of others)
      sides.push(other ? await this.other(run, other, figures.shift()!) : await this.before(run));
    return { first: { ...sideOf(run, own!), cases: await this.repository.cases(run.id) }, others: sides };
  }

  private async other(run: RunEntity, other: RunEntity, figures: BaselineFigures): Promise<OtherSide> {
    const isSameAgent = run.agentId === other.agentId;
    return { ...sideOf(other, figures), ...(!isSameAgent && { cases: await this.repository.cases(other.id) }) };
  }

  private async before(run: RunEntity): Promise<OtherSide> {
    const figures = await this.previous(run);
    if (!figures) throw notFound(await this.noneFound(run));
    return sideOf(run, figures);
  }

  /** @throws DomainError as `compare` does; NOT_FOUND says that it is one of the other runs */
  private async requireOther(caller: Pick<Caller, 'workspaceId'>, id: string): Promise<RunEntity> {
    try {
      return await this.runs.require(caller, id);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NOT_FOUND')
        throw notFound(about('with', `is not the id of a run: ${id}`));
      throw error;
    }
  }

  /**
   * The comparison with the run of the gate or, without one, with the previous run; undefined without either. A derived run
   * is compared with the one that it was derived from.
   */
  async forReport(run: RunEntity): Promise<RunComparison | undefined> {
    if (!hasEnded(run.status)) return undefined;
    const ofGate = run.derivedFrom === null ? await this.repository.findBaseline(run.id, 'gate') : undefined;
    const before = ofGate ?? (await this.previous(run));
    if (!before) return undefined;
    const [figures] = await this.repository.figures([run]);
    const first = { ...sideOf(run, figures!), cases: await this.repository.cases(run.id) };
    const comparison = await this.between(first, sideOf(run, before));
    return comparison.cases.length > 0 ? comparison : undefined;
  }

  private async between(first: PlannedSide, other: OtherSide): Promise<RunComparison> {
    const comparison = comparisonOf(first, other);
    return { ...comparison, warnings: [...comparison.warnings, ...(await this.asked(first, other))] };
  }

  /** Where the shared cases are not asked the same in both runs. */
  private async asked(current: PlannedSide, baseline: OtherSide): Promise<string[]> {
    // Whole results are read only of two media: within one, the same checks are decided.
    const isOneMedium = current.figures.latency.clock === baseline.figures.latency.clock;
    const [now, then] = await Promise.all(
      [current, baseline].map(async ({ figures }) => {
        const asked = await this.repository.asked(figures.id, isOneMedium);
        return new Map(asked.map((one) => [one.evaluationId, one]));
      }),
    );
    // The rows of an evaluation are asked the same.
    const shared = new Map(sharedFigures(current, baseline).map((one) => [one.evaluationId, one])).values();
    const askedTwice = [...shared].flatMap(({ evaluationName: name, evaluationId, baseline: { caseKey } }) => {
      const [asked, before] = [now!.get(evaluationId), then!.get(evaluationOf(caseKey))];
      return asked && before ? [{ name, current: asked, baseline: before }] : [];
    });
    return askedWarnings(askedTwice);
  }

  /** Runs that were started by an earlier version of the service have no stored figures of the previous run. */
  private async previous(run: RunEntity): Promise<BaselineFigures | undefined> {
    const stored = await this.repository.findBaseline(run.id, 'previous');
    if (stored) return stored;
    const cases = await this.repository.cases(run.id);
    const keys = cases.map(({ caseKey }) => caseKey);
    const found = await this.repository.findPrevious(run.agentId, keys, run.createdAt);
    return found && (await this.repository.figures([found]))[0];
  }

  private async noneFound(run: RunEntity): Promise<Issue> {
    const others = await this.repository.otherEnded(run.agentId, run.id);
    if (others.length === 0) return { message: 'with: the agent has no other run that has ended', field: 'with' };
    const named = others.map(({ id, name }) => `"${name}" (${id})`).join(', ');
    const message = `with: no earlier run shares a case with this one; the agent has the runs ${named}`;
    return { message, field: 'with' };
  }
}

function comparisonOf(current: PlannedSide, baseline: OtherSide): RunComparison {
  const shared = sharedFigures(current, baseline);
  const comparison = compareCases(shared);
  const missing = current.figures.cases.length - shared.length;
  return {
    ...comparison.overall,
    overall: comparison.overall,
    current: comparedRun(current, sum(shared.map((one) => one.current))),
    baseline: comparedRun(baseline, sum(shared.map((one) => one.baseline))),
    cases: shared.map(({ caseKey, evaluationId, key, variables: row, name, ...results }, index) => ({
      ...{ caseKey, evaluationId, key, row, name, ...comparison.cases[index]! },
      current: comparedResult(results.current, current),
      baseline: comparedResult(results.baseline, baseline),
    })),
    onlyInCurrent: missing,
    onlyInBaseline: baseline.figures.cases.length - shared.length,
    warnings: [
      ...comparisonWarnings({ shared, missing, comparison }),
      ...clockWarnings([current, baseline]),
      ...platformWarnings(current.figures, baseline.figures),
    ],
  };
}
