import { cleanEnv, EnvError, EnvMissingError, makeValidator, str } from 'envalid';
import ipaddr from 'ipaddr.js';
import { REDACTED } from '../../../libs/text/index.js';
import type { AgentProvider } from './agent-providers.js';
import { databaseUrl, redisUrl } from './database-url.js';
import { PLANS, type Plan } from './plans.js';
import { type Proxied, proxied } from './proxied.js';
import { agentProviders, type AgentProviderSetting, agentProviderSettings } from './provider-settings.js';
import { address, bearerToken, publicAddress, SettingsError, wholeNumber } from './setting-validators.js';
import type { SipAccount } from '../../../libs/simulation/index.js';
import { sipAccounts } from './sip-accounts.js';
import { type SpeechServers, speechServers, speechSpecs } from './speech-settings.js';
import { telephoneSettings, type TelephoneSettings, telephoneSpecs } from './telephone-settings.js';
import { type TranscriptionSetting, transcriptionSetting, transcriptionSpecs } from './transcription-settings.js';

export { SettingsError };

/** The roles of a process: HTTP and jobs, HTTP only, jobs only. */
export const PROCESS_ROLES = ['all', 'api', 'worker'] as const;
export type ProcessRole = (typeof PROCESS_ROLES)[number];

/** Which proxies are trusted to set `X-Forwarded-For`; the values of Express's `trust proxy`. */
export type TrustProxy = boolean | number | string[];

/** Every setting of the service, read once at start; see docs/configuration.md. */
export interface Settings {
  readonly port: number;
  readonly host: string;
  readonly role: ProcessRole;
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly redisUrl: string | undefined;
  readonly defaultPlan: Plan;
  /** Plan of the first workspace, which belongs to the administrator. */
  readonly firstPlan: Plan;
  /** Requests per minute of each plan. */
  readonly planLimits: Readonly<Record<Plan, number>>;
  readonly bootstrapApiKey: string | undefined;
  readonly encryptionKeys: readonly EncryptionKeySetting[] | undefined;
  readonly trustProxy: TrustProxy;
  /** Address of the service from outside, without a slash at its end; undefined if unknown. */
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly logLevel: string;
  readonly logFormat: 'pretty' | 'json';
  readonly metricsPort: number | undefined;
  readonly databasePoolSize: number;
  /** Maximum number of concurrent text calls of one process. */
  readonly workerConcurrency: number;
  /** Maximum number of concurrent voice calls of one process. */
  readonly voiceConcurrency: number;
  /** Maximum number of threads of each medium in which one process reads what agents send; undefined: by its processors. */
  readonly callThreads: number | undefined;
  /** The language model that plays callers without a script, and judges; undefined without one. */
  readonly languageModel: LanguageModelSetting | undefined;
  /** Verdicts of the judge on one criterion: 3 takes two, and a third when they disagree; 1 takes one. */
  readonly judgeSamples: 1 | 3;
  /** The speech servers of the caller's voices. */
  readonly speechServers: SpeechServers;
  /** The server that transcribes the speech of agents; undefined without one. */
  readonly transcription: TranscriptionSetting | undefined;
  /** Days after their end for which runs are kept; 0: always. */
  readonly runRetentionDays: number;
  /** The same of runs of production calls. */
  readonly productionRetentionDays: number;
  /** Days after the end of their runs for which the texts of voice calls are kept; 0: as long as their runs. */
  readonly transcriptRetentionDays: number;
  /** Whether the audio and the wire logs of calls are stored. */
  readonly recordings: boolean;
  /** What a workspace may keep of recordings, wire logs and pictures in bytes; undefined: any amount. */
  readonly recordingsBytesPerWorkspace: number | undefined;
  /** Days for which recordings are kept; 0: as long as their runs. */
  readonly recordingRetentionDays: number;
  /** Days after their end for which webhook deliveries are kept; 0: always. */
  readonly deliveryRetentionDays: number;
  /** How many minutes after its due time a run of a schedule is still started. */
  readonly scheduleGraceMinutes: number;
  /** How agents of each provider are reached. */
  readonly agentProviders: Readonly<Record<AgentProvider, AgentProviderSetting>>;
  /** On which agents that call out reach the tester. */
  readonly sipAccounts: readonly SipAccount[];
  readonly telephone: TelephoneSettings;
  /** Private networks (CIDR) that webhooks and agent calls may reach. */
  readonly outboundAllowedNetworks: readonly string[];
}

/** An OpenAI-compatible chat-completions server. */
export interface LanguageModelSetting extends Proxied {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** US dollars per million tokens; undefined if unknown. */
  readonly prices: { readonly prompt: number; readonly completion: number } | undefined;
}

export interface EncryptionKeySetting {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const SECRET_SETTINGS = new Set([
  ...['BOOTSTRAP_API_KEY', 'ENCRYPTION_KEYS', 'DATABASE_URL', 'REDIS_URL', 'LLM_API_KEY', 'STT_API_KEY'],
]);

const price = makeValidator<number>((input) => {
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(input)) throw new EnvError('must be an amount such as 0.15, without a currency');
  return Number(input);
});

const list = (input: string) =>
  input
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const origins = makeValidator<string[]>((input) => {
  const entries = list(input);
  for (const entry of entries) {
    if (entry !== '*' && (!URL.canParse(entry) || new URL(entry).origin !== entry)) {
      throw new EnvError(
        `must be a comma-separated list of origins such as https://app.example.com, but ${JSON.stringify(entry)} is not one`,
      );
    }
  }
  return entries;
});

/** In dotted form only: the library also accepts a single number as an IPv4 address, where `999` is more likely a mistake. */
const isAddressOrNetwork = (text: string): boolean =>
  (ipaddr.isValid(text) || ipaddr.isValidCIDR(text)) && (text.includes(':') || /^\d+(\.\d+){3}(\/\d+)?$/.test(text));

const networks = makeValidator<string[]>((input) => {
  const entries = list(input);
  for (const entry of entries) {
    if (!ipaddr.isValidCIDR(entry)) {
      throw new EnvError(`must be a comma-separated list of networks such as 10.1.0.0/16, but "${entry}" is not one`);
    }
  }
  return entries;
});

const trustProxy = makeValidator<TrustProxy>((input) => {
  if (input === 'false') return false;
  if (input === 'true') return true;
  if (/^\d{1,2}$/.test(input)) return Number(input);
  const named = ['loopback', 'linklocal', 'uniquelocal'];
  const entries = list(input);
  for (const entry of entries) {
    if (!named.includes(entry) && !isAddressOrNetwork(entry)) {
      throw new EnvError(
        'must be false, true, a number of proxies, or a comma-separated list of addresses or networks',
      );
    }
  }
  return entries;
});

const credential = makeValidator<string>((input) => {
  if (!/^[\x21-\x7e]{16,255}$/.test(input)) {
    throw new EnvError('must have 16 to 255 visible ASCII characters; better, use a key generated by this service');
  }
  return input;
});

const encryptionKeys = makeValidator<EncryptionKeySetting[]>(parseEncryptionKeys);

/** A platform's or another program's setting, which must not be ignored: it asks for processes that do not start. */
const oneProcess = makeValidator<string>((input) => {
  if (input !== '1') {
    throw new EnvError(
      'must be 1 or unset: one start has one API process. Start more with ROLE=api behind a proxy, as in compose.yaml',
    );
  }
  return input;
});

/**
 * Reads an `id:base64(32 bytes)` list, separated by commas.
 * @throws EnvError whose message contains no key
 */
export function parseEncryptionKeys(input: string): EncryptionKeySetting[] {
  const keys = list(input).map((entry) => {
    const [, id, encoded] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry) ?? [];
    const key = Buffer.from(encoded ?? '', 'base64');
    if (id === undefined || key.length !== 32) {
      throw new EnvError('must be a comma-separated list of id:base64 where the base64 part holds exactly 32 bytes');
    }
    return { id, key };
  });
  if (keys.length === 0) throw new EnvError('must contain at least one id:base64 entry');
  if (new Set(keys.map((key) => key.id)).size !== keys.length) throw new EnvError('must not contain the same id twice');
  return keys;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Where the API listens unless HOST is set: at this machine only. */
const LOOPBACK = '127.0.0.1';

/** How each setting is read; its keys are the names of all settings. */
export function settingSpecs(isTerminal: boolean) {
  const perMinute = wholeNumber(1, 1_000_000_000);
  const retentionDays = wholeNumber(0, 36_500);
  return {
    PORT: { ...wholeNumber(0, 65_535), default: 3000 },
    HOST: str({ default: LOOPBACK }),
    ROLE: str<ProcessRole>({ choices: PROCESS_ROLES, default: 'all' }),
    DATABASE_URL: databaseUrl({ default: undefined }),
    DATA_DIR: str({ default: './data' }),
    REDIS_URL: redisUrl({ default: undefined }),
    DEFAULT_PLAN: str<Plan>({ choices: PLANS, default: undefined }),
    PLAN_FREE_REQUESTS_PER_MINUTE: { ...perMinute, default: 60 },
    PLAN_PRO_REQUESTS_PER_MINUTE: { ...perMinute, default: 300 },
    PLAN_ENTERPRISE_REQUESTS_PER_MINUTE: { ...perMinute, default: 3000 },
    BOOTSTRAP_API_KEY: credential({ default: undefined }),
    ENCRYPTION_KEYS: encryptionKeys({ default: undefined }),
    TRUST_PROXY: trustProxy({ default: false }),
    PUBLIC_URL: publicAddress({ default: undefined }),
    CORS_ORIGINS: origins({ default: [] }),
    LOG_LEVEL: str({ choices: LOG_LEVELS, default: 'info' }),
    LOG_FORMAT: str<'pretty' | 'json'>({ choices: ['pretty', 'json'], default: isTerminal ? 'pretty' : 'json' }),
    METRICS_PORT: { ...wholeNumber(0, 65_535), default: undefined },
    DATABASE_POOL_SIZE: { ...wholeNumber(2, 1000), default: 20 },
    WEB_CONCURRENCY: oneProcess({ default: undefined }),
    WORKER_CONCURRENCY: { ...wholeNumber(1, 1000), default: 20 },
    VOICE_CONCURRENCY: { ...wholeNumber(1, 1000), default: 50 },
    CALL_THREADS: { ...wholeNumber(1, 256), default: undefined },
    JUDGE_SAMPLES: str<'1' | '3'>({ choices: ['1', '3'], default: '3' }),
    LLM_BASE_URL: address('http:', 'https:')({ default: undefined }),
    LLM_API_KEY: bearerToken({ default: undefined }),
    LLM_MODEL: str({ default: undefined }),
    LLM_PRICE_PROMPT: price({ default: undefined }),
    LLM_PRICE_COMPLETION: price({ default: undefined }),
    ...transcriptionSpecs(),
    ...agentProviderSettings(),
    ...telephoneSpecs(),
    ...speechSpecs(),
    RUN_RETENTION_DAYS: { ...retentionDays, default: 365 },
    PRODUCTION_RETENTION_DAYS: { ...retentionDays, default: 30 },
    TRANSCRIPT_RETENTION_DAYS: { ...retentionDays, default: undefined },
    RECORDINGS: str<'on' | 'off'>({ choices: ['on', 'off'], default: 'on' }),
    RECORDINGS_BYTES_PER_WORKSPACE: { ...wholeNumber(0, Number.MAX_SAFE_INTEGER), default: undefined },
    RECORDING_RETENTION_DAYS: { ...retentionDays, default: 30 },
    DELIVERY_RETENTION_DAYS: { ...retentionDays, default: 30 },
    SCHEDULE_GRACE_MINUTES: { ...wholeNumber(1, 1_440), default: 15 },
    SIP_ACCOUNTS: str({ default: undefined }),
    OUTBOUND_ALLOWED_NETWORKS: networks({ default: [] }),
  };
}

/**
 * Reads and checks the environment.
 * @param env usually `process.env`; a blank value counts as unset.
 * @throws SettingsError with one line per invalid setting: its name, its value unless secret, and what is allowed
 */
export function readSettings(env: NodeJS.ProcessEnv, isTerminal = false): Settings {
  const given = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  const clean = cleanEnv(given, settingSpecs(isTerminal), { reporter: ({ errors }) => report(errors, given) });
  return Object.freeze({
    port: clean.PORT,
    host: clean.HOST,
    role: clean.ROLE,
    databaseUrl: clean.DATABASE_URL,
    dataDir: clean.DATA_DIR,
    redisUrl: clean.REDIS_URL,
    defaultPlan: clean.DEFAULT_PLAN ?? 'FREE',
    firstPlan: clean.DEFAULT_PLAN ?? 'ENTERPRISE',
    planLimits: {
      FREE: clean.PLAN_FREE_REQUESTS_PER_MINUTE,
      PRO: clean.PLAN_PRO_REQUESTS_PER_MINUTE,
      ENTERPRISE: clean.PLAN_ENTERPRISE_REQUESTS_PER_MINUTE,
    },
    bootstrapApiKey: clean.BOOTSTRAP_API_KEY,
    encryptionKeys: clean.ENCRYPTION_KEYS,
    trustProxy: clean.TRUST_PROXY,
    publicUrl: clean.PUBLIC_URL,
    corsOrigins: clean.CORS_ORIGINS,
    logLevel: clean.LOG_LEVEL,
    logFormat: clean.LOG_FORMAT,
    metricsPort: clean.METRICS_PORT,
    databasePoolSize: clean.DATABASE_POOL_SIZE,
    workerConcurrency: clean.WORKER_CONCURRENCY,
    voiceConcurrency: clean.VOICE_CONCURRENCY,
    callThreads: clean.CALL_THREADS,
    judgeSamples: clean.JUDGE_SAMPLES === '1' ? 1 : 3,
    languageModel: proxied(languageModel(clean), env),
    speechServers: speechServers(clean, env),
    transcription: proxied(transcriptionSetting(clean), env),
    runRetentionDays: clean.RUN_RETENTION_DAYS,
    productionRetentionDays: clean.PRODUCTION_RETENTION_DAYS,
    transcriptRetentionDays: clean.TRANSCRIPT_RETENTION_DAYS ?? clean.RUN_RETENTION_DAYS,
    recordings: clean.RECORDINGS === 'on',
    recordingsBytesPerWorkspace: clean.RECORDINGS_BYTES_PER_WORKSPACE,
    recordingRetentionDays: clean.RECORDING_RETENTION_DAYS,
    deliveryRetentionDays: clean.DELIVERY_RETENTION_DAYS,
    scheduleGraceMinutes: clean.SCHEDULE_GRACE_MINUTES,
    agentProviders: agentProviders(clean),
    sipAccounts: sipAccounts(clean.SIP_ACCOUNTS, env),
    telephone: telephoneSettings(clean),
    outboundAllowedNetworks: clean.OUTBOUND_ALLOWED_NETWORKS,
  });
}

interface ModelSettings {
  readonly LLM_BASE_URL: string | undefined;
  readonly LLM_API_KEY: string | undefined;
  readonly LLM_MODEL: string | undefined;
  readonly LLM_PRICE_PROMPT: number | undefined;
  readonly LLM_PRICE_COMPLETION: number | undefined;
}

/** @throws SettingsError if only some of the settings that belong together are set */
function languageModel(settings: ModelSettings): Omit<LanguageModelSetting, 'proxy'> | undefined {
  const { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_API_KEY: apiKey } = settings;
  const { LLM_PRICE_PROMPT: prompt, LLM_PRICE_COMPLETION: completion } = settings;
  const together = (isSet: boolean, missing: string, present: string) => {
    if (!isSet) throw new SettingsError(`${missing} must be set together with ${present}`);
  };
  together(prompt === undefined || completion !== undefined, 'LLM_PRICE_COMPLETION', 'LLM_PRICE_PROMPT');
  together(completion === undefined || prompt !== undefined, 'LLM_PRICE_PROMPT', 'LLM_PRICE_COMPLETION');
  if (baseUrl === undefined || model === undefined) {
    const [present] = Object.entries(settings).find(([name, value]) => /^LLM_/.test(name) && value !== undefined) ?? [];
    const missing = baseUrl === undefined ? 'LLM_BASE_URL' : 'LLM_MODEL';
    together(present === undefined, missing, present ?? '');
    return undefined;
  }
  const prices = prompt !== undefined && completion !== undefined ? { prompt, completion } : undefined;
  return { baseUrl, model, apiKey, prices };
}

function report(errors: Partial<Record<string, Error>>, given: Record<string, string | undefined>): void {
  const lines = Object.entries(errors).map(([name, error]) => {
    if (error instanceof EnvMissingError) return `${name} must be set`;
    // As JSON, so that a value with a line break stays on one line.
    const value =
      SECRET_SETTINGS.has(name) || /(TTS_API_KEY|SIP_PASSWORD)$/.test(name)
        ? ''
        : `=${JSON.stringify(given[name] ?? '')}`;
    // envalid says `Value "x" not in choices [a,b]` for a choice; all other messages are our own.
    const allowed = error?.message.replace(/^Value ".*" not in choices \[(.*)\]$/s, (_, choices: string) => {
      return `must be one of ${choices.split(',').join(', ')}`;
    });
    return withoutCredentials(`${name}${value} ${allowed}`);
  });
  if (lines.length > 0) throw new SettingsError(lines.join('\n'));
}

/** Without user names, passwords and queries of addresses, valid or not. */
const withoutCredentials = (line: string): string =>
  line.replace(/(\/\/|[",])(?:(?!\/\/)[^\s",])*@/g, `$1${REDACTED}@`).replace(/\?[^\s",]+/g, `?${REDACTED}`);
