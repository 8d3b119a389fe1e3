import { type Medium, type ProtocolName, PROTOCOLS } from '../../../../libs/simulation/index.js';
import type { AgentProvider } from '../../../platform/config/agent-providers.js';

/** The protocol of the calls of a run. */
export interface ProtocolChoice {
  readonly protocol: ProtocolName;
  readonly medium: Medium;
}

/** The protocols that are set for an agent. */
export interface AvailableProtocols {
  /** That of the agent's own connection; null without one. */
  readonly own: ProtocolName | null;
  /** Those of the settings for the agent's provider. */
  readonly provider: ProtocolName;
  readonly text: ProtocolName | undefined;
  /** What the names of these settings begin with. */
  readonly settings: AgentProvider;
}

/** The protocol of the same platform for the other medium; undefined if it has none that is built. */
export const twinOf = (protocol: ProtocolName | undefined): ProtocolName | undefined =>
  protocol === undefined ? undefined : PROTOCOLS.of(protocol).twin;

/**
 * The protocols by which an agent can be called, the preferred one first; at most one of each medium. An own connection
 * never falls back on the provider's settings: another agent would be called.
 */
export function reachableBy({ own, provider, text }: AvailableProtocols): readonly ProtocolName[] {
  const first = own ?? provider;
  const second = own === null ? (text ?? twinOf(provider)) : twinOf(own);
  return second === undefined ? [first] : [first, second];
}

/**
 * Decides which protocol calls use (decision 158).
 * @param wanted absent: the medium of the agent's first protocol
 */
export function chooseProtocol(
  available: AvailableProtocols,
  wanted?: Medium | null,
): ProtocolChoice | { readonly refusal: string } {
  const reachable = reachableBy(available);
  const protocol = wanted ? reachable.find((name) => mediumOf(name) === wanted) : reachable[0];
  return protocol === undefined ? { refusal: refusalOf(available, wanted!) } : { protocol, medium: mediumOf(protocol) };
}

function refusalOf({ own, provider, settings }: AvailableProtocols, wanted: Medium): string {
  const first = own ?? provider;
  const source = own === null ? `${settings}_PROTOCOL` : "the agent's connection";
  const isTextUnset = own === null && wanted === 'text';
  const second = isTextUnset
    ? `${settings}_TEXT_PROTOCOL is not set`
    : `there is no protocol of the same platform for ${wanted} calls`;
  const setting = isTextUnset ? `, set ${settings}_TEXT_PROTOCOL` : '';
  const others = PROTOCOLS.names.filter((name) => mediumOf(name) === wanted);
  return (
    `medium is ${wanted}, and the protocol of ${source}, ${first}, is for ${mediumOf(first)} calls, and ${second}: ` +
    `leave medium out${setting}, or set a connection with a protocol for ${wanted} calls (${others.join(', ')})`
  );
}

const mediumOf = (protocol: ProtocolName): Medium => PROTOCOLS.of(protocol).medium;
