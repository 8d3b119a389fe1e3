import { type AgentEndpoint, PROTOCOLS, variablesOf } from '../simulation/index.js';

/** What of a plan its platform is concerned with. */
export interface PlannedPlatform {
  readonly protocol: string;
  /** Of the address of the agent, such as `wss:`; absent if it is not known. */
  readonly scheme?: string | undefined;
  /** What the agent is instructed to do, as far as it is known here. */
  readonly prompt: string | null;
  /** Those of its own connection, without secret ones. */
  readonly connectionOptions: AgentEndpoint['options'];
  /** For each evaluation, the names of the variables that it or the run sets. */
  readonly variables: readonly (readonly string[])[];
  readonly assistantVersion: string | null;
  /** Whether the run is not known, which may set more variables. */
  readonly isBeforeRun?: boolean;
}

/** Names as platforms write them in prompts. */
const VARIABLE = /\{\{\s*([\w.-]{1,100})\s*\}\}/g;
/** Names listed in one warning. */
const MAX_NAMED = 10;

/** What a platform ignores, lacks, or does for real, one sentence each. */
export function platformWarnings(plan: PlannedPlatform): string[] {
  const { protocol, connectionOptions, assistantVersion, variables } = plan;
  const module = PROTOCOLS.of(protocol, connectionOptions);
  const { takes, provides, runsTools = provides.toolCalls === 'seen', mocksTools, hasOwnMocks } = module;
  const warnings: string[] = [];
  if (takes?.variables !== true && variables.some((names) => names.length > 0)) {
    warnings.push(`agentVariables have no effect, because ${protocol} has no variables.`);
  }
  const { variableSchemes: schemes } = takes ?? {};
  if (
    schemes &&
    plan.scheme !== undefined &&
    !schemes.includes(plan.scheme) &&
    variables.some(({ length }) => length > 0)
  ) {
    warnings.push(
      `agentVariables have no effect, because ${protocol} sends them to an address that begins with ${schemes[0]}// only, and this one begins with ${plan.scheme}//.`,
    );
  }
  if (takes?.assistantVersion !== true && assistantVersion !== null) {
    warnings.push(`assistantVersion has no effect, because ${protocol} does not take a version.`);
  }
  const missing = takes?.variables === true ? missingVariables(plan) : [];
  if (missing.length > 0) {
    const names = missing.slice(0, MAX_NAMED).map((name) => `{{${name}}}`);
    const more = missing.length > MAX_NAMED ? ' and others' : '';
    const [unset, ofRun] = plan.isBeforeRun
      ? ['neither the evaluations nor its connection set', ', also those of the run']
      : ['nothing sets', ''];
    warnings.push(
      `The prompt of the agent names ${names.join(', ')}${more}, and ${unset} them: ` +
        `give their values in agentVariables${ofRun}, or in the variables of its connection.`,
    );
  }
  if (runsTools) {
    warnings.push(
      mocksTools?.(connectionOptions)
        ? 'Tools of this agent run for real, except those that toolResults of an evaluation name.'
        : 'Tools of this agent run for real: its platform calls them, and the tester only sees that.',
    );
  }
  if (hasOwnMocks && mocksTools?.(connectionOptions)) {
    warnings.push(
      'Mocks of the platform have its own results: arguments and results of toolResults apply to client tools only.',
    );
  }
  return warnings;
}

/** Names in the prompt that are set neither by the platform nor, for one of the evaluations, by anything else. */
function missingVariables({ protocol, prompt, connectionOptions, variables }: PlannedPlatform): string[] {
  const { ownVariables } = PROTOCOLS.of(protocol).takes ?? {};
  const ofConnection = Object.keys(variablesOf(connectionOptions));
  const named = [...new Set([...(prompt ?? '').matchAll(VARIABLE)].map(([, name]) => name!))];
  const sets = variables.map((names) => new Set([...ofConnection, ...names]));
  return named.filter(
    (name) => !(ownVariables !== undefined && name.startsWith(ownVariables)) && !sets.every((names) => names.has(name)),
  );
}
