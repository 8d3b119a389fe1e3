import { type Equipment, evaluationWarnings } from '../../../../libs/run-plan/index.js';
import { type Medium, PROTOCOLS } from '../../../../libs/simulation/index.js';
import { comparisonWarnings, NO_PREVIOUS_RUN } from '../../../../libs/statistics/index.js';
import { caseName, count } from '../../../../libs/text/index.js';
import { slotsOfOne } from '../execution/fair-slots.js';
import type { Plan } from './plan.js';

/** What a plan depends on beside its evaluations. */
export interface PlanContext extends Equipment {
  /** What the agent is instructed to do, as far as it is known here. */
  readonly prompt: string | null;
  /** Names of the variables that its connection sets. */
  readonly connectionVariables: readonly string[];
  /** Calls that one process executes at once, by the medium of their protocol. */
  readonly concurrency: Readonly<Record<Medium, number>>;
}

/** Weaknesses of a plan, one sentence each. */
export function planWarnings(plan: Plan, context: PlanContext): string[] {
  const { medium } = PROTOCOLS.of(context.protocol);
  return [
    ...evaluationWarnings(plan.evaluations, context, plan.repeat),
    ...platformWarnings(plan, context),
    ...concurrencyWarnings(plan.concurrency, medium, context.concurrency[medium]),
    ...baselineWarnings(plan),
  ];
}

/** Names as platforms write them in prompts. */
const VARIABLE = /\{\{\s*([\w.-]{1,100})\s*\}\}/g;
/** Names listed in one warning. */
const MAX_NAMED = 10;

function platformWarnings({ agentVariables, assistantVersion }: Plan, context: PlanContext): string[] {
  const { protocol, prompt, connectionVariables } = context;
  const { takes, provides } = PROTOCOLS.of(protocol);
  const warnings: string[] = [];
  if (takes?.variables !== true && Object.keys(agentVariables).length > 0) {
    warnings.push(`agentVariables have no effect, because ${protocol} has no variables.`);
  }
  if (takes?.assistantVersion !== true && assistantVersion !== null) {
    warnings.push(`assistantVersion has no effect, because ${protocol} does not take a version.`);
  }
  const set = new Set([...connectionVariables, ...Object.keys(agentVariables)]);
  const named = takes?.variables === true ? [...(prompt ?? '').matchAll(VARIABLE)].map(([, name]) => name!) : [];
  const missing = [...new Set(named)].filter((name) => !set.has(name));
  if (missing.length > 0) {
    const names = missing.slice(0, MAX_NAMED).map((name) => `{{${name}}}`);
    warnings.push(
      `The prompt of the agent names ${names.join(', ')}${missing.length > MAX_NAMED ? ' and others' : ''}, and nothing sets ` +
        'them: give their values in agentVariables, or in the variables of its connection.',
    );
  }
  if (provides.toolCalls === 'seen') {
    warnings.push('Tools of this agent run for real: its platform calls them, and the tester only sees that.');
  }
  return warnings;
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
