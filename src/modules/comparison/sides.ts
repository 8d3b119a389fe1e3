import { type PassCounts, wilsonInterval } from '../../../libs/statistics/index.js';
import { caseName } from '../../../libs/text/index.js';
import type { ComparedResult, ComparedRun } from './dto/comparison.responses.js';
import type { RunEntity } from '../runs/run.entity.js';
import type { NamedCase } from './comparison.repository.js';
import type { BaselineFigures } from './run-baseline.entity.js';
import type { CaseFigures, ComparedLatency } from './run-figures.js';

/** A run as it is compared. */
export interface Side {
  readonly figures: BaselineFigures;
  readonly agentId: string;
  readonly agentName: string | null;
}

/** The run that others are compared with, with the cases of its plan, in order. */
export interface PlannedSide extends Side {
  readonly cases: readonly NamedCase[];
}

/** Another run; its cases are needed only if it is of another agent. */
export type OtherSide = Side & Partial<PlannedSide>;

export const sideOf = ({ agentId, agentSnapshot }: RunEntity, figures: BaselineFigures): Side => ({
  figures,
  agentId,
  agentName: agentSnapshot.name,
});

/** A case of a run with its results there and in another run. */
export interface SharedFigures extends NamedCase {
  readonly evaluationName: string;
  readonly current: CaseFigures;
  readonly baseline: CaseFigures;
}

/** The cases that a run shares with another one, in the order of its plan. */
export function sharedFigures(current: PlannedSide, baseline: OtherSide): SharedFigures[] {
  const [now, before] = [byCaseKey(current.figures.cases), byCaseKey(baseline.figures.cases)];
  // Evaluations belong to an agent, so those of two agents have nothing in common but their keys.
  const counterparts = baseline.cases && new Map(baseline.cases.flatMap((one) => identified(one)));
  return current.cases.flatMap((one) => {
    const otherKey = counterparts ? identified(one).map(([row]) => counterparts.get(row))[0] : one.caseKey;
    const [currently, earlier] = [now.get(one.caseKey), before.get(otherKey ?? '')];
    const names = { evaluationName: one.name, name: displayName(one) };
    return currently && earlier ? [{ ...one, ...names, current: currently, baseline: earlier }] : [];
  });
}

/** Key of the evaluation and row of variables, with the `caseKey`; a case without such a key has no counterpart. */
const identified = ({ key, caseKey }: NamedCase): (readonly [row: string, caseKey: string])[] =>
  key === null ? [] : [[`${key}#${caseKey.split('#')[1] ?? ''}`, caseKey]];

/** The id of the evaluation of a case. */
export const evaluationOf = (caseKey: string): string => caseKey.split('#')[0] ?? '';

export const byCaseKey = (cases: readonly CaseFigures[]): ReadonlyMap<string, CaseFigures> =>
  new Map(cases.map((one) => [one.caseKey, one]));

export const displayName = ({ name, variables, caseKey }: NamedCase): string => caseName(name, variables, caseKey);

export const sum = (counts: readonly PassCounts[]): PassCounts => ({
  counted: counts.reduce((total, { counted }) => total + counted, 0),
  passed: counts.reduce((total, { passed }) => total + passed, 0),
});

/** @param counts those of the cases that are compared */
export function comparedRun({ figures, agentId, agentName }: Side, counts: PassCounts): ComparedRun {
  const { id, name, status, agentVersion, agentVariables = {}, assistantVersion = null } = figures;
  const { endedAt, score, latency } = figures;
  return {
    ...{ id, runId: id, agentId, agentName, name, status, agentVersion, agentVariables, assistantVersion },
    ...{ endedAt, score, latency: withClock(latency) },
    ...passRate(counts),
  };
}

export const comparedResult = (
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
export function clockWarnings(sides: readonly Side[]): string[] {
  const clocks = new Set(sides.flatMap(({ figures }) => figures.latency.clock ?? []));
  return clocks.size < 2 ? [] : [`The latencies are measured on different clocks: ${[...clocks].join(' and ')}.`];
}

/** What the runs asked of the agent's platform, where that is not the same. */
export function platformWarnings(current: BaselineFigures, baseline: BaselineFigures): string[] {
  const { agentVariables = {}, assistantVersion = null } = current;
  const { agentVariables: variablesThen = {}, assistantVersion: versionThen = null } = baseline;
  const names = [...new Set([...Object.keys(variablesThen), ...Object.keys(agentVariables)])];
  const changed = names.filter((name) => agentVariables[name] !== variablesThen[name]).sort();
  const version = (given: string | null) => (given === null ? 'no version' : `"${given}"`);
  return [
    ...(changed.length > 0 ? [`The runs gave the agent different agentVariables: ${changed.join(', ')}.`] : []),
    ...(assistantVersion === versionThen
      ? []
      : [`The runs asked for different versions: ${version(versionThen)}, then ${version(assistantVersion)}.`]),
  ];
}
