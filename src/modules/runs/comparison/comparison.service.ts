import { Injectable } from '@nestjs/common';
import { caseName } from '../../../../libs/text/index.js';
import {
  compareCases,
  comparisonWarnings,
  type Difference,
  type PassCounts,
  wilsonInterval,
} from '../../../../libs/statistics/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { conflict, invalidInput, notFound } from '../../../platform/errors/domain-error.js';
import type { ComparedCase, ComparedResult, ComparedRun, RunComparison } from '../dto/comparison.responses.js';
import { hasEnded, type RunEntity } from '../run.entity.js';
import { RunsService } from '../runs.service.js';
import { ComparisonRepository, type NamedCase } from './comparison.repository.js';
import type { BaselineFigures } from './run-baseline.entity.js';
import type { CaseFigures, RunFigures } from './run-figures.js';

/** Compares runs of an agent. */
@Injectable()
export class ComparisonService {
  constructor(
    private readonly repository: ComparisonRepository,
    private readonly runs: RunsService,
  ) {}

  /**
   * @param baseline id of the run to compare with, or `previous`
   * @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's run; BAD_REQUEST for a run of another agent, or
   *   without a shared case; CONFLICT if one of the runs has not ended
   */
  async compare(caller: Caller, id: string, baseline: string): Promise<RunComparison> {
    const run = await this.runs.require(caller, id);
    const other = baseline === 'previous' ? undefined : await this.runs.require(caller, baseline);
    if (other && other.agentId !== run.agentId) throw invalidInput('with must be a run of the same agent');
    for (const each of [run, other]) if (each && !hasEnded(each.status)) throw conflict('The run has not ended yet');
    const [current, before] = other
      ? await this.repository.figures([run, other])
      : [(await this.repository.figures([run]))[0]!, await this.previous(run)];
    if (!before) throw notFound();
    const comparison = comparisonOf(current, before, await this.repository.cases(run.id));
    if (comparison.cases.length === 0) throw invalidInput('with must be a run that shares a case with this one');
    return comparison;
  }

  /** The comparison with the run of the gate or, without one, with the previous run; undefined without either. */
  async forReport(run: RunEntity): Promise<RunComparison | undefined> {
    if (!hasEnded(run.status)) return undefined;
    const before = (await this.repository.findBaseline(run.id, 'gate')) ?? (await this.previous(run));
    if (!before) return undefined;
    const [current] = await this.repository.figures([run]);
    const comparison = comparisonOf(current!, before, await this.repository.cases(run.id));
    return comparison.cases.length > 0 ? comparison : undefined;
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
}

function comparisonOf(
  current: BaselineFigures,
  baseline: BaselineFigures,
  planned: readonly NamedCase[],
): RunComparison {
  const now = byKey(current);
  const before = byKey(baseline);
  const shared = planned.flatMap((one) => {
    const [currently, earlier] = [now.get(one.caseKey), before.get(one.caseKey)];
    const name = caseName(one.name, one.variables, one.caseKey);
    return currently && earlier ? [{ ...one, name, current: currently, baseline: earlier }] : [];
  });
  const { overall, cases } = compareCases(shared);
  const [total, totalBefore] = [sum(shared.map((one) => one.current)), sum(shared.map((one) => one.baseline))];
  return {
    ...overall,
    current: { ...comparedRun(current), ...passRate(total) },
    baseline: { ...comparedRun(baseline), ...passRate(totalBefore) },
    cases: shared.map((one, index) => comparedCase(one, cases[index]!)),
    onlyInCurrent: planned.length - shared.length,
    onlyInBaseline: baseline.cases.length - shared.length,
    warnings: comparisonWarnings({ shared, missing: planned.length - shared.length }),
  };
}

const byKey = ({ cases }: BaselineFigures): ReadonlyMap<string, CaseFigures> =>
  new Map(cases.map((one) => [one.caseKey, one]));

const sum = (counts: readonly PassCounts[]): PassCounts => ({
  counted: counts.reduce((total, { counted }) => total + counted, 0),
  passed: counts.reduce((total, { passed }) => total + passed, 0),
});

const comparedRun = ({
  id,
  name,
  status,
  agentVersion,
  endedAt,
  score,
  latency,
}: RunFigures): Omit<ComparedRun, keyof ReturnType<typeof passRate>> => ({
  id,
  name,
  status,
  agentVersion,
  endedAt,
  score,
  latency,
});

function comparedCase(
  {
    caseKey,
    evaluationId,
    key,
    name,
    current,
    baseline,
  }: NamedCase & {
    readonly current: CaseFigures;
    readonly baseline: CaseFigures;
  },
  difference: Difference,
): ComparedCase {
  const sides = { current: comparedResult(current), baseline: comparedResult(baseline) };
  return { caseKey, evaluationId, key, name, ...difference, ...sides };
}

const comparedResult = ({ counted, passed, score, latency }: CaseFigures): ComparedResult => ({
  ...passRate({ counted, passed }),
  score,
  latency,
});

const passRate = ({ counted, passed }: PassCounts) => ({
  counted,
  passed,
  passRate: counted === 0 ? null : passed / counted,
  passRateInterval: counted === 0 ? null : wilsonInterval(counted, passed),
});
