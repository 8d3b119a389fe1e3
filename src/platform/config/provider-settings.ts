import { EnvError, makeValidator, str, type ValidatorSpec } from 'envalid';
import {
  type ProtocolName,
  PROTOCOLS,
  TRANSCRIPTION_MODES,
  type TranscriptionMode,
} from '../../../libs/simulation/index.js';
import { AGENT_PROVIDERS, type AgentProvider } from './agent-providers.js';
import { isSipAddress, sipViolation } from '../agent-address.js';
import { SettingsError, wholeNumber } from './setting-validators.js';
import { type SipTrunk, sipTrunk, trunkSpecs } from './telephone-settings.js';

export interface AgentProviderSetting {
  readonly protocol: ProtocolName;
  /** For runs over text, beside a protocol of voice calls. */
  readonly textProtocol: ProtocolName | undefined;
  /** May contain `{assistantId}`, `{phoneNumber}` and `{callId}`; undefined for the default of the protocol, if it has one. */
  readonly url: string | undefined;
  /** Calls at once per credential, across all processes; undefined for the default of the protocol. */
  readonly concurrency: number | undefined;
  /** For agents that have a number; undefined without one. */
  readonly sipTrunk: SipTrunk | undefined;
  /** Whose words count on voice calls, unless a connection says otherwise. */
  readonly transcription: TranscriptionMode;
}

/**
 * An address whose placeholders are filled in for each agent. They may not decide which server is called: editors choose
 * the values, and the provider's default key would be sent there.
 */
const agentAddress = makeValidator<string>((input) => {
  if (isSipAddress(input)) {
    const violation = sipViolation(input);
    if (violation === undefined) return input;
    throw new EnvError(violation);
  }
  const unknown = /\{(?!assistantId\}|phoneNumber\}|callId\})[^}]*\}?/.exec(input);
  if (unknown) throw new EnvError('must have no placeholder except {assistantId}, {phoneNumber} and {callId}');
  if (/^[^/?#\\]*[/\\]*[^/?#\\]*[{}]/.test(input)) {
    throw new EnvError('must have placeholders in its path and query only');
  }
  const example = input.replaceAll(/\{\w+\}/g, 'x');
  const url = URL.canParse(example) ? new URL(example) : undefined;
  // Other forms, such as `https:host`, are refused although they can be parsed: their host begins elsewhere.
  if (!url || !/^(https?|wss?):\/\/[^/?#\\\s]/i.test(input)) {
    throw new EnvError('must be an address that begins with http://, https://, ws://, wss://, sip: or sips:');
  }
  if (url.username !== '' || url.password !== '') throw new EnvError('must not contain a user name or password');
  return input;
});

type ProtocolSettings = { readonly [Name in `${AgentProvider}_PROTOCOL`]: ProtocolName } & {
  readonly [Name in `${AgentProvider}_TEXT_PROTOCOL` | `${AgentProvider}_URL`]: string | undefined;
} & { readonly [Name in `${AgentProvider}_CONCURRENCY`]: number | undefined } & {
  readonly [Name in `${AgentProvider}_TRANSCRIPTION`]: TranscriptionMode;
};
type ProviderSettings = ProtocolSettings & Parameters<typeof sipTrunk>[1];

const textProtocols = () => PROTOCOLS.names.filter((name) => PROTOCOLS.of(name).medium === 'text');

/** How the settings for the agent providers are read. */
export const agentProviderSettings = () => ({ ...trunkSpecs(), ...protocolSpecs() });

const protocolSpecs = () =>
  Object.fromEntries(
    AGENT_PROVIDERS.flatMap((provider) => [
      [`${provider}_PROTOCOL`, str<ProtocolName>({ choices: PROTOCOLS.names, default: 'chat-completions' })],
      [`${provider}_TEXT_PROTOCOL`, str<ProtocolName>({ choices: textProtocols(), default: undefined })],
      [`${provider}_URL`, agentAddress({ default: undefined })],
      [`${provider}_TRANSCRIPTION`, str<TranscriptionMode>({ choices: TRANSCRIPTION_MODES, default: 'auto' })],
      [`${provider}_CONCURRENCY`, { ...wholeNumber(1, 1_000), default: undefined }],
    ]),
  ) as { [Name in keyof ProtocolSettings]: ValidatorSpec<ProtocolSettings[Name]> };

/** @throws SettingsError for an address with a scheme that a protocol does not have, and for a second protocol of text */
export const agentProviders = (clean: ProviderSettings) =>
  Object.fromEntries(
    AGENT_PROVIDERS.map((provider) => {
      const { [`${provider}_PROTOCOL` as const]: protocol, [`${provider}_URL` as const]: url } = clean;
      const textProtocol = clean[`${provider}_TEXT_PROTOCOL`];
      if (textProtocol !== undefined && PROTOCOLS.of(protocol).medium === 'text') {
        throw new SettingsError(
          `${provider}_TEXT_PROTOCOL has no effect beside ${provider}_PROTOCOL=${protocol}, which is for text calls, too: ` +
            `set ${provider}_PROTOCOL to a protocol for voice calls, or to ${textProtocol}`,
        );
      }
      for (const name of textProtocol === undefined ? [protocol] : [protocol, textProtocol]) {
        const begins = PROTOCOLS.of(name).schemes.map((scheme) => (isSipAddress(scheme) ? scheme : `${scheme}//`));
        if (url === undefined || begins.some((begin) => url.toLowerCase().startsWith(begin))) continue;
        const allowed = begins.join(' or ');
        throw new SettingsError(`${provider}_URL must begin with ${allowed} for ${name}`);
      }
      const concurrency = clean[`${provider}_CONCURRENCY`];
      const transcription = clean[`${provider}_TRANSCRIPTION`];
      return [
        provider,
        { protocol, textProtocol, url, concurrency, transcription, sipTrunk: sipTrunk(provider, clean) },
      ];
    }),
  ) as Record<AgentProvider, AgentProviderSetting>;
