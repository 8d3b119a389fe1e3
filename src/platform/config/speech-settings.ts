import { EnvError, makeValidator, str } from 'envalid';
import {
  isLanguageTag,
  PERSONALITY_PROVIDERS,
  type PersonalityProvider,
} from '../../../libs/evaluation-definition/index.js';
import type { ServerVoices } from '../../../libs/speech/index.js';
import { type Proxied, proxied } from './proxied.js';
import { bearerToken, publicAddress, SettingsError } from './setting-validators.js';

/** A speech server with the interface of OpenAI's. */
export interface SpeechServerSetting extends ServerVoices, Proxied {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string | undefined;
}

/** By provider of voices; absent for those with the embedded voices. */
export type SpeechServers = Readonly<Partial<Record<PersonalityProvider, SpeechServerSetting>>>;

const DEFAULT = 'TTS';
const PREFIXES = [DEFAULT, ...PERSONALITY_PROVIDERS.map((provider) => `${provider}_TTS` as const)] as const;
type Prefix = (typeof PREFIXES)[number];

const languages = makeValidator<string[]>((input) => {
  const entries = input.split(',').map((entry) => entry.trim());
  const wrong = entries.find((entry) => !isLanguageTag(entry));
  if (wrong !== undefined) {
    throw new EnvError(`must be a comma-separated list of languages such as en,de-AT, but "${wrong}" is not one`);
  }
  return entries.map((entry) => new Intl.Locale(entry).toString());
});

const name = makeValidator<string>((input) => {
  if (input.length > 255) throw new EnvError('must have at most 255 characters');
  return input;
});

const specs = {
  BASE_URL: publicAddress({ default: undefined }),
  API_KEY: bearerToken({ default: undefined }),
  MODEL: str({ default: undefined }),
  VOICE_FEMALE: name({ default: undefined }),
  VOICE_MALE: name({ default: undefined }),
  LANGUAGES: languages({ default: undefined }),
};
type Field = keyof typeof specs;
const FIELDS = Object.keys(specs) as Field[];

type Clean = { readonly [Name in `${Prefix}_${Exclude<Field, 'LANGUAGES'>}`]: string | undefined } & {
  readonly [Name in `${Prefix}_LANGUAGES`]: readonly string[] | undefined;
};

export const speechSpecs = () =>
  Object.fromEntries(PREFIXES.flatMap((prefix) => FIELDS.map((field) => [`${prefix}_${field}`, specs[field]]))) as {
    [Name in `${Prefix}_${Exclude<Field, 'LANGUAGES'>}`]: typeof specs.MODEL;
  } & { [Name in `${Prefix}_LANGUAGES`]: typeof specs.LANGUAGES };

/** @throws SettingsError if only some of the settings that belong together are set */
export function speechServers(clean: Clean, env: NodeJS.ProcessEnv): SpeechServers {
  const common = proxied(serverOf(clean, DEFAULT), env);
  return Object.fromEntries(
    PERSONALITY_PROVIDERS.flatMap((provider) => {
      const server = proxied(serverOf(clean, `${provider}_TTS`), env) ?? common;
      return server ? [[provider, server]] : [];
    }),
  );
}

function serverOf(clean: Clean, prefix: Prefix): Omit<SpeechServerSetting, 'proxy'> | undefined {
  const baseUrl = clean[`${prefix}_BASE_URL`];
  if (baseUrl === undefined) {
    const present = FIELDS.find((field) => clean[`${prefix}_${field}`] !== undefined);
    if (present) throw new SettingsError(`${prefix}_BASE_URL must be set together with ${prefix}_${present}`);
    return undefined;
  }
  const { [`${prefix}_VOICE_FEMALE` as const]: FEMALE, [`${prefix}_VOICE_MALE` as const]: MALE } = clean;
  if (FEMALE === undefined && MALE === undefined) {
    throw new SettingsError(
      `${prefix}_VOICE_FEMALE or ${prefix}_VOICE_MALE must be set together with ${prefix}_BASE_URL`,
    );
  }
  return {
    setting: prefix,
    baseUrl,
    apiKey: clean[`${prefix}_API_KEY`],
    model: clean[`${prefix}_MODEL`],
    voices: { ...(FEMALE !== undefined && { FEMALE }), ...(MALE !== undefined && { MALE }) },
    languages: clean[`${prefix}_LANGUAGES`] ?? ['en'],
  };
}
