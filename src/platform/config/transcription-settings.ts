import { str } from 'envalid';
import type { Proxied } from './proxied.js';
import { bearerToken, publicAddress, SettingsError, wholeNumber } from './setting-validators.js';

/** A transcription server with the interface of OpenAI's. */
export interface TranscriptionSetting extends Proxied {
  /** Without `/v1/audio/transcriptions`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string | undefined;
  /** Most requests of one process at a time. */
  readonly concurrency: number;
  /** Whether calls that need no words are transcribed, too. */
  readonly isAlways: boolean;
}

export const transcriptionSpecs = () => ({
  STT_BASE_URL: publicAddress({ default: undefined }),
  STT_API_KEY: bearerToken({ default: undefined }),
  STT_MODEL: str({ default: undefined }),
  STT_CONCURRENCY: { ...wholeNumber(1, 1000), default: 4 },
  STT_ALWAYS: str<'true' | 'false'>({ choices: ['true', 'false'], default: 'false' }),
});

interface CleanSettings {
  readonly STT_BASE_URL: string | undefined;
  readonly STT_API_KEY: string | undefined;
  readonly STT_MODEL: string | undefined;
  readonly STT_CONCURRENCY: number;
  readonly STT_ALWAYS: 'true' | 'false';
}

/** @throws SettingsError if settings of a server are set, and its address is not */
export function transcriptionSetting(clean: CleanSettings): Omit<TranscriptionSetting, 'proxy'> | undefined {
  const { STT_BASE_URL: baseUrl, STT_API_KEY: apiKey, STT_MODEL: model, STT_CONCURRENCY: concurrency } = clean;
  const isAlways = clean.STT_ALWAYS === 'true';
  if (baseUrl !== undefined) {
    // LLM_BASE_URL ends with the version, and so does what servers name as their base address.
    return { baseUrl: baseUrl.replace(/\/v1(\/audio\/transcriptions)?$/, ''), apiKey, model, concurrency, isAlways };
  }
  const present = apiKey !== undefined ? 'STT_API_KEY' : model !== undefined ? 'STT_MODEL' : isAlways && 'STT_ALWAYS';
  if (present) throw new SettingsError(`STT_BASE_URL must be set together with ${present}`);
  return undefined;
}
