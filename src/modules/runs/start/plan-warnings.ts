import { type Equipment, evaluationWarnings } from '../../../../libs/run-plan/index.js';
import { type Medium, PROTOCOLS } from '../../../../libs/simulation/index.js';
import { comparisonWarnings, NO_PREVIOUS_RUN } from '../../../../libs/statistics/index.js';
import { caseName, count } from '../../../../libs/text/index.js';
import { slotsOfOne } from '../execution/fair-slots.js';
import type { Plan } from './plan.js';

/** What a plan depends on beside its evaluations. */
export interface PlanContext extends Equipment {
  /** Calls that one process executes at once, by the medium of their protocol. */
  readonly concurrency: Readonly<Record<Medium, number>>;
}

/** Weaknesses of a plan, one sentence each. */
export function planWarnings(plan: Plan, context: PlanContext): string[] {
  const { medium } = PROTOCOLS.of(context.protocol);
  return [
    ...evaluationWarnings(plan.evaluations, context, plan.repeat),
    ...concurrencyWarnings(plan.concurrency, medium, context.concurrency[medium]),
    ...baselineWarnings(plan),
  ];
}

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
