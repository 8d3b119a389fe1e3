import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { ProtocolOption, WireSession } from '../../modules/module.js';
import { ownRecord } from '../own-record.js';
import { parsed, PLATFORMS } from './outbound/triggers.js';

const NAMES = Object.keys(PLATFORMS).filter((name) => PLATFORMS[name]!.records);

export const RECORDS_OPTION: ProtocolOption = {
  isSecret: false,
  receivesSecrets: (value) => parsed(value)?.platform?.protocol,
  description: `${NAMES.map((name) => `\`${name}\``).join(' or ')}: the platform whose record of each call shows the tool calls, read with the apiKey of the agent for up to 30 s after the call; another address of its API follows after a colon (\`vapi:https://api.eu.vapi.ai\`). By default that of \`trigger\``,
  violation: (value) =>
    parsed(value)?.platform?.records
      ? undefined
      : `must be ${NAMES.join(' or ')}; an address may follow after a colon, as in vapi:https://api.eu.vapi.ai`,
};

/** Whose records show the calls of a connection; undefined: none are read. */
export function recordsOf({ trigger, records = trigger }: AgentEndpoint['options']) {
  const { platform, url } = parsed(records) ?? {};
  return platform?.records && url !== undefined
    ? { records: platform.records, url, isOfTrigger: records === trigger }
    : undefined;
}

/** `recorded` of a session; undefined if no records are read. @param id the platform's id of the call, if it is known by then */
export function recordedBy(
  { shownUrl: _ofSip, ...endpoint }: AgentEndpoint,
  call: AgentCall,
  id: () => string | null = () => null,
): WireSession['recorded'] {
  const found = recordsOf(endpoint.options);
  if (!found) return undefined;
  const { records, url, isOfTrigger } = found;
  // The headers of a connection without a trigger are those of its INVITE.
  const api = { ...endpoint, url, headers: isOfTrigger ? endpoint.headers : {} };
  return (signal) => ownRecord(records, api, call, signal, id());
}
