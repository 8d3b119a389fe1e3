import { choice, type Variables, variables } from '../../modules/common-options.js';
import type { AgentEndpoint } from '../../modules/endpoint.js';

/** The options of a connection, as their validation guarantees. */
export const SIP_OPTIONS = {
  variables: { ...variables, violation: variablesFault },
  srtp: choice(
    '`off` (default): media is not encrypted; `require`: SRTP, whose keys are in the signalling, so that the address needs `transport=tls`',
    ['off', 'require'],
  ),
} as const;

export const needsSrtp = ({ srtp }: AgentEndpoint['options']): boolean => srtp === 'require';

const NAME = /^[A-Za-z0-9-]{1,64}$/;
const MAX_LINE = 1_024;
/** The attempt of this service to which a call belongs. */
const OWN = 'X-Vat-Call';

const headerOf = (name: string): string => (/^x-/i.test(name) ? name : `X-${name}`);

/** Why a variable cannot be a header of SIP, as the rest of a sentence about it; undefined if it can. */
export function variableFault(name: string, value: Variables[string]): string | undefined {
  if (!NAME.test(name)) return 'cannot be the name of a header: letters, digits and - only, at most 64';
  if (headerOf(name).toLowerCase() === OWN.toLowerCase()) return 'is a header that this service sets';
  if (/\p{Cc}/u.test(String(value))) return 'has a control character, which a header cannot have';
  const bytes = Buffer.byteLength(`${headerOf(name)}: ${value}`);
  return bytes > MAX_LINE ? `makes a header of ${bytes} bytes; at most ${MAX_LINE} are sent` : undefined;
}

/**
 * The headers of an INVITE: those of the connection, and variables. @param own only names that begin with `x-` are headers of SIP
 * @throws RangeError that names what cannot be one
 */
export function inviteHeaders(own: AgentEndpoint['headers'], given: Variables, callId: string): Record<string, string> {
  const wrong = Object.keys(own).find((name) => !/^x-[a-z0-9-]+$/i.test(name));
  if (wrong !== undefined) throw new RangeError(`the header "${wrong}" of the connection does not begin with x-`);
  const headers = Object.entries(given).map(([name, value]) => {
    const fault = variableFault(name, value);
    if (fault !== undefined) throw new RangeError(`the variable "${name.slice(0, 100)}" ${fault}`);
    return [headerOf(name), String(value)];
  });
  return Object.fromEntries([...Object.entries(own), ...headers, [OWN, callId]]) as Record<string, string>;
}

function variablesFault(given: unknown): string | undefined {
  const violation = variables.violation(given);
  if (violation !== undefined) return violation;
  for (const [name, value] of Object.entries(given as Variables)) {
    const fault = variableFault(name, value);
    if (fault !== undefined) return `has the variable "${name.slice(0, 64)}", which ${fault}`;
  }
  return undefined;
}
