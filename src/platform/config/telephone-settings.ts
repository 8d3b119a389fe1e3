import { isIP } from 'node:net';
import { EnvError, makeValidator, str, type ValidatorSpec } from 'envalid';
import { parseSipAddress, SipAddressError } from '../../../libs/sip/index.js';
import type { TelephoneLine } from '../../../libs/simulation/index.js';
import { AGENT_PROVIDERS, type AgentProvider } from './agent-providers.js';
import { SettingsError, wholeNumber } from './setting-validators.js';

/** What carries calls to telephone numbers. */
export interface SipTrunk {
  /** Without a user part. */
  readonly address: string;
  readonly credentials: TelephoneLine['credentials'];
  /** In E.164. */
  readonly caller: string | undefined;
  /** Calls at once. */
  readonly channels: number | undefined;
}

export interface TelephoneSettings {
  /** Of numbers that may be dialled; none by default. */
  readonly allowedPrefixes: readonly string[];
  /** Of each trunk. */
  readonly callsPerSecond: number;
  /** Calls to numbers, and their minutes, of a workspace on a day (UTC). */
  readonly callsPerDay: number;
  readonly minutesPerDay: number;
  readonly media: NonNullable<TelephoneLine['media']>;
}

const trunkAddress = makeValidator<string>((input) => {
  try {
    if (parseSipAddress(input).user === undefined) return input;
  } catch (error) {
    if (!(error instanceof SipAddressError)) throw error;
    throw new EnvError(error.message);
  }
  throw new EnvError('must not have a user: the numbers that are dialled stand there');
});

const e164 = makeValidator<string>((input) => {
  if (!/^\+\d{8,15}$/.test(input)) throw new EnvError('must be a number such as +390612345678');
  return input;
});

const prefixes = makeValidator<string[]>((input) => {
  const entries = input.split(',').map((entry) => entry.trim());
  if (entries.every((entry) => /^\+?\d{1,15}$/.test(entry))) return entries;
  throw new EnvError('must be a comma-separated list of beginnings of numbers such as +3906,+4930');
});

const ipAddress = makeValidator<string>((input) => {
  if (isIP(input) === 0) throw new EnvError('must be an IP address');
  return input;
});

const portRange = makeValidator<{ first: number; last: number }>((input) => {
  const [, first = 0, last = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(input) ?? []).map(Number);
  // A call needs an even port and the next one.
  if (first >= 1024 && last <= 65_535 && last - (first + (first % 2)) >= 1) return { first, last };
  throw new EnvError('must be a range of ports from 1024 to 65535, such as 40000-40199, two for each call at once');
});

type TrunkPart = 'TRUNK' | 'USER' | 'PASSWORD' | 'CALLER' | 'CHANNELS';
type TrunkSettings = {
  readonly [Name in `${AgentProvider}_SIP_${Exclude<TrunkPart, 'CHANNELS'>}`]: string | undefined;
} & { readonly [Name in `${AgentProvider}_SIP_CHANNELS`]: number | undefined };

/** How the settings for telephone calls are read. */
export const telephoneSpecs = () => ({
  SIP_ALLOWED_PREFIXES: prefixes({ default: [] }),
  SIP_CALLS_PER_SECOND: { ...wholeNumber(1, 100), default: 1 },
  SIP_CALLS_PER_DAY: { ...wholeNumber(0, 1_000_000), default: 100 },
  SIP_MINUTES_PER_DAY: { ...wholeNumber(0, 1_000_000), default: 300 },
  SIP_PUBLIC_ADDRESS: ipAddress({ default: undefined }),
  SIP_MEDIA_PORTS: portRange({ default: undefined }),
});

export const trunkSpecs = () =>
  Object.fromEntries(
    AGENT_PROVIDERS.flatMap((provider) => [
      [`${provider}_SIP_TRUNK`, trunkAddress({ default: undefined })],
      [`${provider}_SIP_USER`, str({ default: undefined })],
      [`${provider}_SIP_PASSWORD`, str({ default: undefined })],
      [`${provider}_SIP_CALLER`, e164({ default: undefined })],
      [`${provider}_SIP_CHANNELS`, { ...wholeNumber(1, 1_000), default: undefined }],
    ]),
  ) as { [Name in keyof TrunkSettings]: ValidatorSpec<TrunkSettings[Name]> };

/** @throws SettingsError for a setting without the one that it belongs to */
export function sipTrunk(provider: AgentProvider, clean: TrunkSettings): SipTrunk | undefined {
  const name = <Part extends TrunkPart>(part: Part) => `${provider}_SIP_${part}` as const;
  const needs = (part: TrunkPart, other: TrunkPart) => {
    if (clean[name(part)] === undefined || clean[name(other)] !== undefined) return;
    throw new SettingsError(`${name(part)} must be set together with ${name(other)}`);
  };
  for (const part of ['USER', 'PASSWORD', 'CALLER', 'CHANNELS'] as const) needs(part, 'TRUNK');
  needs('USER', 'PASSWORD');
  needs('PASSWORD', 'USER');
  const { [name('TRUNK')]: address, [name('USER')]: user, [name('PASSWORD')]: password } = clean;
  if (address === undefined) return undefined;
  const credentials = user === undefined || password === undefined ? undefined : { user, password };
  return { address, credentials, caller: clean[name('CALLER')], channels: clean[name('CHANNELS')] };
}

interface CleanTelephone {
  readonly SIP_ALLOWED_PREFIXES: string[];
  readonly SIP_CALLS_PER_SECOND: number;
  readonly SIP_CALLS_PER_DAY: number;
  readonly SIP_MINUTES_PER_DAY: number;
  readonly SIP_PUBLIC_ADDRESS: string | undefined;
  readonly SIP_MEDIA_PORTS: { first: number; last: number } | undefined;
}

export const telephoneSettings = (clean: CleanTelephone): TelephoneSettings => ({
  allowedPrefixes: clean.SIP_ALLOWED_PREFIXES,
  callsPerSecond: clean.SIP_CALLS_PER_SECOND,
  callsPerDay: clean.SIP_CALLS_PER_DAY,
  minutesPerDay: clean.SIP_MINUTES_PER_DAY,
  media: {
    ...(clean.SIP_PUBLIC_ADDRESS !== undefined && { publicAddress: clean.SIP_PUBLIC_ADDRESS }),
    ...(clean.SIP_MEDIA_PORTS && { ports: clean.SIP_MEDIA_PORTS }),
  },
});
