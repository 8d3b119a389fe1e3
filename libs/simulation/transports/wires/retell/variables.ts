import { variablesOf } from '../../modules/common-options.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';

/** The dynamic variables of a call: the platform takes texts alone. */
export function textVariables({ options }: AgentEndpoint, call: AgentCall): Readonly<Record<string, string>> {
  const given = Object.entries(call.variables ?? variablesOf(options));
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
