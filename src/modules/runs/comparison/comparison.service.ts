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
import { conflict, DomainError, invalidInput, notFound } from '../../../platform/errors/domain-error.js';
import type { ComparedCase, ComparedResult, ComparedRun, RunComparison } from '../dto/comparison.responses.js';
import { hasEnded, type RunEntity } from '../run.entity.js';
import { RunsService } from '../runs.service.js';
import { askedWarnings } from './asked.js';
import { ComparisonRepository, type NamedCase } from './comparison.repository.js';
import type { BaselineFigures } from './run-baseline.entity.js';
import type { CaseFigures, ComparedLatency } from './run-figures.js';

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
    const run = await this.runs.require(caller, id);
    const other = baseline === 'previous' ? undefined : await this.requireOther(caller, baseline);
    for (const each of [run, other]) if (each && !hasEnded(each.status)) throw conflict('The run has not ended yet');
    const comparison = other ? await this.between(run, other) : await this.withStored(run, await this.previous(run));
    if (!comparison) throw notFound(await this.noneFound(run));
    if (comparison.cases.length === 0) throw invalidInput('with must be a run that shares a case with this one');
    return comparison;
  }

  /** @throws DomainError as `compare` does; NOT_FOUND says that it is this one of the two runs */
  private async requireOther(caller: Pick<Caller, 'workspaceId'>, id: string): Promise<RunEntity> {
    try {
      return await this.runs.require(caller, id);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'NOT_FOUND') throw notFound('with is not the id of a run');
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
    const comparison = await this.withStored(run, before);
    return comparison && comparison.cases.length > 0 ? comparison : undefined;
  }

  private async withStored(run: RunEntity, baseline: BaselineFigures | undefined): Promise<RunComparison | undefined> {
    if (!baseline) return undefined;
    const [figures] = await this.repository.figures([run]);
    const planned = await this.repository.cases(run.id);
    return this.comparisonOf(
      { figures: figures!, ...agentOf(run), planned: byCaseKey(planned) },
      { figures: baseline, ...agentOf(run) },
    );
  }

  private async between(run: RunEntity, other: RunEntity): Promise<RunComparison> {
    const [current, before] = await this.repository.figures([run, other]);
    const planned = await this.repository.cases(run.id);
    const isSameAgent = run.agentId === other.agentId;
    // Evaluations belong to an agent, so those of two agents have nothing in common but their keys.
    const identify = isSameAgent ? byCaseKey : byRowOfKey;
    return this.comparisonOf(
      { figures: current!, ...agentOf(run), planned: identify(planned) },
      {
        figures: before!,
        ...agentOf(other),
        ...(!isSameAgent && { planned: identify(await this.repository.cases(other.id)) }),
      },
    );
  }

  private async comparisonOf(current: Side & { readonly planned: Identified }, baseline: Side): Promise<RunComparison> {
    const shared = sharedCases(current, baseline);
    // Whole results are read only of two media: within one, the same checks are decided.
    const isOneMedium = current.figures.latency.clock === baseline.figures.latency.clock;
    const [now, then] = await Promise.all(
      [current, baseline].map(async ({ figures }) => {
        const asked = await this.repository.asked(figures.id, isOneMedium);
        return new Map(asked.map((one) => [one.evaluationId, one]));
      }),
    );
    // The rows of an evaluation are asked the same.
    const evaluations = new Map(shared.map((one) => [one.evaluationId, one])).values();
    const askedTwice = [...evaluations].flatMap(({ evaluationName: name, evaluationId, baseline: { caseKey } }) => {
      const [asked, before] = [now!.get(evaluationId), then!.get(evaluationOf(caseKey))];
      return asked && before ? [{ name, current: asked, baseline: before }] : [];
    });
    const comparison = comparisonOf(shared, current, baseline);
    return { ...comparison, warnings: [...comparison.warnings, ...askedWarnings(askedTwice)] };
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

  private async noneFound(run: RunEntity): Promise<string> {
    const others = await this.repository.otherEnded(run.agentId, run.id);
    if (others.length === 0) return 'with: the agent has no other run that has ended';
    const named = others.map(({ id, name }) => `"${name}" (${id})`).join(', ');
    return `with: no earlier run shares a case with this one; the agent has the runs ${named}`;
  }
}

/** Cases by what identifies them in both runs. */
type Identified = ReadonlyMap<string, NamedCase>;

interface Side {
  readonly figures: BaselineFigures;
  readonly agentId: string;
  readonly agentName: string | null;
  /** The cases of the plan, in order; the baseline's may be omitted if its cases are identified by `caseKey`. */
  readonly planned?: Identified;
}

const agentOf = ({ agentId, agentSnapshot }: RunEntity): Pick<Side, 'agentId' | 'agentName'> => ({
  agentId,
  agentName: agentSnapshot.name,
});

const byCaseKey = (cases: readonly NamedCase[]): Identified => new Map(cases.map((one) => [one.caseKey, one]));

/** Cases without a key of their evaluation have no counterpart. */
const byRowOfKey = (cases: readonly NamedCase[]): Identified =>
  new Map(cases.flatMap((one) => (one.key === null ? [] : [[`${one.key}#${rowOf(one.caseKey)}`, one]])));

/** The hash of the row of variables; empty without variables. */
const rowOf = (caseKey: string): string => caseKey.split('#')[1] ?? '';

/** The id of the evaluation of a case. */
const evaluationOf = (caseKey: string): string => caseKey.split('#')[0] ?? '';

/** A case of both runs. */
interface SharedCase extends NamedCase {
  readonly evaluationName: string;
  readonly current: CaseFigures;
  readonly baseline: CaseFigures;
}

function sharedCases(current: Side & { readonly planned: Identified }, baseline: Side): SharedCase[] {
  const now = byKey(current.figures);
  const before = byKey(baseline.figures);
  return [...current.planned].flatMap(([identity, one]) => {
    const earlierKey = baseline.planned ? baseline.planned.get(identity)?.caseKey : identity;
    const [currently, earlier] = [now.get(one.caseKey), before.get(earlierKey ?? '')];
    const name = caseName(one.name, one.variables, one.caseKey);
    return currently && earlier
      ? [{ ...one, evaluationName: one.name, name, current: currently, baseline: earlier }]
      : [];
  });
}

function comparisonOf(shared: readonly SharedCase[], current: Side, baseline: Side): RunComparison {
  const comparison = compareCases(shared);
  const [total, totalBefore] = [sum(shared.map((one) => one.current)), sum(shared.map((one) => one.baseline))];
  const missing = current.figures.cases.length - shared.length;
  return {
    ...comparison.overall,
    overall: comparison.overall,
    current: { ...comparedRun(current), ...passRate(total) },
    baseline: { ...comparedRun(baseline), ...passRate(totalBefore) },
    cases: shared.map((one, index) => comparedCase(one, comparison.cases[index]!, { current, baseline })),
    onlyInCurrent: missing,
    onlyInBaseline: baseline.figures.cases.length - shared.length,
    warnings: [...comparisonWarnings({ shared, missing, comparison }), ...clockWarnings(current, baseline)],
  };
}

const byKey = ({ cases }: BaselineFigures): ReadonlyMap<string, CaseFigures> =>
  new Map(cases.map((one) => [one.caseKey, one]));

const sum = (counts: readonly PassCounts[]): PassCounts => ({
  counted: counts.reduce((total, { counted }) => total + counted, 0),
  passed: counts.reduce((total, { passed }) => total + passed, 0),
});

const comparedRun = ({ figures, agentId, agentName }: Side): Omit<ComparedRun, keyof ReturnType<typeof passRate>> => {
  const { id, name, status, agentVersion, endedAt, score, latency } = figures;
  return { id, runId: id, agentId, agentName, name, status, agentVersion, endedAt, score, latency: withClock(latency) };
};

function comparedCase(
  { caseKey, evaluationId, key, variables: row, name, current, baseline }: SharedCase,
  difference: Difference,
  of: { readonly current: Side; readonly baseline: Side },
): ComparedCase {
  const sides = { current: comparedResult(current, of.current), baseline: comparedResult(baseline, of.baseline) };
  return { caseKey, evaluationId, key, row, name, ...difference, ...sides };
}

const comparedResult = (
  { counted, passed, score, latency }: CaseFigures,
  { figures, agentId }: Side,
): ComparedResult => ({
  runId: figures.id,
  agentId,
  ...passRate({ counted, passed }),
  score,
  latency: withClock(latency),
});

function passRate({ counted, passed }: PassCounts) {
  const interval = counted === 0 ? null : wilsonInterval(counted, passed);
  return { counted, passed, passRate: counted === 0 ? null : passed / counted, interval, passRateInterval: interval };
}

const withClock = ({ clock = null, ...latency }: ComparedLatency) => ({ ...latency, clock });

/** Latencies of different clocks are shown beside each other, but are not the same thing. */
function clockWarnings(...sides: readonly Side[]): string[] {
  const clocks = new Set(sides.flatMap(({ figures }) => figures.latency.clock ?? []));
  return clocks.size < 2 ? [] : [`The latencies are measured on different clocks: ${[...clocks].join(' and ')}.`];
}
