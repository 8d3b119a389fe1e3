import { type Medium, type ProtocolName, PROTOCOLS } from '../../../../libs/simulation/index.js';

/** The protocol of the calls of a run. */
export interface ProtocolChoice {
  readonly protocol: ProtocolName;
  readonly medium: Medium;
}

/** The protocols by which an agent can be reached. */
export interface AvailableProtocols {
  /** That of the agent's own connection; null without one. */
  readonly own: ProtocolName | null;
  /** That of the settings for the agent's provider. */
  readonly provider: ProtocolName;
  /** Name of the setting that `provider` is the value of. */
  readonly setting: string;
}

/**
 * Decides which protocol calls use. An own connection never falls back on the provider's settings: another agent would
 * be called.
 * @param wanted absent: the medium of the agent's protocol
 */
export function chooseProtocol(
  { own, provider, setting }: AvailableProtocols,
  wanted?: Medium | null,
): ProtocolChoice | { readonly refusal: string } {
  const protocol = own ?? provider;
  const medium = mediumOf(protocol);
  if (!wanted || wanted === medium) return { protocol, medium };
  const source = own ? "the agent's connection" : setting;
  const others = PROTOCOLS.names.filter((name) => mediumOf(name) === wanted);
  return {
    refusal:
      `medium is ${wanted}, and the protocol of ${source}, ${protocol}, is for ${medium} calls: leave medium out, ` +
      `or set a connection with a protocol for ${wanted} calls (${others.join(', ')})`,
  };
}

const mediumOf = (protocol: ProtocolName): Medium => PROTOCOLS.of(protocol).medium;
