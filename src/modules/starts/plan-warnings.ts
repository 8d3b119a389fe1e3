import type { EvaluationDefinition } from '../../../libs/evaluation-definition/index.js';
import { type Equipment, evaluationWarnings, platformWarnings } from '../../../libs/run-plan/index.js';
import { type AgentEndpoint, type Medium, PROTOCOLS } from '../../../libs/simulation/index.js';
import { comparisonWarnings, NO_PREVIOUS_RUN } from '../../../libs/statistics/index.js';
import { caseName, count } from '../../../libs/text/index.js';
import { slotsOfOne } from '../runs/runs.service.js';
import type { Plan } from './plan.js';

/** What a plan depends on beside its evaluations. */
export interface PlanContext extends Equipment {
  /** What the agent is instructed to do, as far as it is known here. */
  readonly prompt: string | null;
  /** Those of its own connection, without secret ones. */
  readonly connectionOptions: AgentEndpoint['options'];
  /** Of the address of the agent. */
  readonly scheme?: string | undefined;
  /** Calls that one process executes at once, by the medium of their protocol. */
  readonly concurrency: Readonly<Record<Medium, number>>;
}

/** Weaknesses of a plan, one sentence each. */
export function planWarnings(plan: Plan, context: PlanContext): string[] {
  const { medium } = PROTOCOLS.of(context.protocol);
  return [
    ...evaluationWarnings(plan.evaluations, context, plan.repeat),
    ...platformWarnings({ ...context, variables: variableNames(plan), assistantVersion: plan.assistantVersion }),
    ...concurrencyWarnings(plan.concurrency, medium, context.concurrency[medium]),
    ...baselineWarnings(plan),
  ];
}

/** For each evaluation, the names of the variables that it or the run sets. */
const variableNames = ({ evaluations, agentVariables }: Plan): string[][] =>
  evaluations.map(({ snapshot: { definition } }) => {
    // Missing in the plans of earlier versions.
    const { agentVariables: own = {} } = definition as Partial<EvaluationDefinition>;
    return [...Object.keys(own), ...Object.keys(agentVariables)];
  });

const CONCURRENCY_SETTINGS = { text: 'WORKER_CONCURRENCY', voice: 'VOICE_CONCURRENCY' } as const;

function concurrencyWarnings(concurrency: number, medium: Medium, perProcess: number): string[] {
  const slots = slotsOfOne(perProcess);
  if (concurrency <= slots) return [];
  return [
    `A concurrency of ${concurrency} needs more than one process: one executes at most ${count(slots, 'call')} of a workspace at once (nine tenths of ${CONCURRENCY_SETTINGS[medium]}, ${perProcess}).`,
  ];
}

function baselineWarnings({ evaluations, repeat, notWorseThan, baselines: { gate } }: Plan): string[] {
  if (notWorseThan === null) return [];
  if (!gate) return [NO_PREVIOUS_RUN];
  const before = new Map(gate.cases.map((one) => [one.caseKey, one]));
  const cases = evaluations.flatMap(({ snapshot, cases: own }) =>
    own.map(({ key, variables }) => ({ baseline: before.get(key), name: caseName(snapshot.name, variables, key) })),
  );
  const shared = cases.flatMap(({ name, baseline }) =>
    baseline ? [{ name, baseline, current: { counted: repeat, passed: repeat } }] : [],
  );
  return comparisonWarnings({ shared, missing: cases.length - shared.length });
}
