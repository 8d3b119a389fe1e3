import type { EvaluationDefinition } from '../../../../libs/evaluation-definition/index.js';
import { type Equipment, evaluationWarnings } from '../../../../libs/run-plan/index.js';
import { type AgentEndpoint, type Medium, PROTOCOLS } from '../../../../libs/simulation/index.js';
import { comparisonWarnings, NO_PREVIOUS_RUN } from '../../../../libs/statistics/index.js';
import { caseName, count } from '../../../../libs/text/index.js';
import { variablesOf } from '../../agents/connection/connection.service.js';
import { slotsOfOne } from '../execution/fair-slots.js';
import type { Plan } from './plan.js';

/** What a plan depends on beside its evaluations. */
export interface PlanContext extends Equipment {
  /** What the agent is instructed to do, as far as it is known here. */
  readonly prompt: string | null;
  /** Those of its own connection, without secret ones. */
  readonly connectionOptions: AgentEndpoint['options'];
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

function platformWarnings(plan: Plan, { protocol, prompt, connectionOptions }: PlanContext): string[] {
  const { takes, provides, runsTools = provides.toolCalls === 'seen' } = PROTOCOLS.of(protocol);
  const warnings: string[] = [];
  if (takes?.variables !== true && variableNames(plan).some((names) => names.length > 0)) {
    warnings.push(`agentVariables have no effect, because ${protocol} has no variables.`);
  }
  if (takes?.assistantVersion !== true && plan.assistantVersion !== null) {
    warnings.push(`assistantVersion has no effect, because ${protocol} does not take a version.`);
  }
  const missing = takes?.variables === true ? missingVariables(plan, { protocol, prompt, connectionOptions }) : [];
  if (missing.length > 0) {
    const names = missing.slice(0, MAX_NAMED).map((name) => `{{${name}}}`);
    warnings.push(
      `The prompt of the agent names ${names.join(', ')}${missing.length > MAX_NAMED ? ' and others' : ''}, and nothing sets ` +
        'them: give their values in agentVariables, or in the variables of its connection.',
    );
  }
  if (runsTools) {
    warnings.push(
      connectionOptions['mockTools'] === true
        ? 'Tools of this agent run for real, except those that toolResults of an evaluation name: the option mockTools is on.'
        : 'Tools of this agent run for real: its platform calls them, and the tester only sees that.',
    );
  }
  return warnings;
}

/** Names in the prompt that are set neither by the platform nor, for one of the evaluations, by anything else. */
function missingVariables(
  plan: Plan,
  { protocol, prompt, connectionOptions }: Pick<PlanContext, 'protocol' | 'prompt' | 'connectionOptions'>,
): string[] {
  const { ownVariables } = PROTOCOLS.of(protocol).takes ?? {};
  const ofConnection = Object.keys(variablesOf(connectionOptions));
  const named = [...new Set([...(prompt ?? '').matchAll(VARIABLE)].map(([, name]) => name!))];
  const sets = variableNames(plan).map((names) => new Set([...ofConnection, ...names]));
  return named.filter(
    (name) => !(ownVariables !== undefined && name.startsWith(ownVariables)) && !sets.every((names) => names.has(name)),
  );
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
