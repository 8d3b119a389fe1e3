import { randomBytes } from 'node:crypto';
import { parseEncryptionKeys, readSettings, SettingsError } from './settings.js';

const KEY = randomBytes(32).toString('base64');
const ONE_PROCESS =
  'must be 1 or unset: one start has one API process. Start more with ROLE=api behind a proxy, as in compose.yaml';

/** The lines of the error message. */
function errorLines(env: NodeJS.ProcessEnv): string[] {
  try {
    readSettings(env);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message.split('\n');
  }
  throw new Error(`${JSON.stringify(env)} was accepted`);
}

describe('settings', () => {
  it('have the documented defaults', () => {
    expect(readSettings({})).toEqual({
      port: 3000,
      host: '127.0.0.1',
      role: 'all',
      databaseUrl: undefined,
      dataDir: './data',
      redisUrl: undefined,
      defaultPlan: 'FREE',
      firstPlan: 'ENTERPRISE',
      planLimits: { FREE: 60, PRO: 300, ENTERPRISE: 3000 },
      bootstrapApiKey: undefined,
      encryptionKeys: undefined,
      trustProxy: false,
      publicUrl: undefined,
      corsOrigins: [],
      logLevel: 'info',
      logFormat: 'json',
      metricsPort: undefined,
      databasePoolSize: 20,
      workerConcurrency: 20,
      voiceConcurrency: 50,
      callThreads: undefined,
      judgeSamples: 3,
      languageModel: undefined,
      agentProviders: Object.fromEntries(
        [1, 2, 3, 4].map((n) => [`AGENT_PROVIDER_${n}`, { protocol: 'chat-completions', transcription: 'auto' }]),
      ),
      speechServers: {},
      transcription: undefined,
      transcriptRetentionDays: 365,
      outboundAllowedNetworks: [],
      ...{ runRetentionDays: 365, productionRetentionDays: 30, recordings: true },
      ...{ recordingRetentionDays: 30, deliveryRetentionDays: 30, scheduleGraceMinutes: 15, sipAccounts: [] },
      telephone: { allowedPrefixes: [], callsPerSecond: 1, callsPerDay: 100, minutesPerDay: 300, media: {} },
    });
  });

  it('use the pretty log format on a terminal unless LOG_FORMAT is set', () => {
    expect(readSettings({}, true).logFormat).toBe('pretty');
    expect(readSettings({ LOG_FORMAT: 'json' }, true).logFormat).toBe('json');
    expect(readSettings({ LOG_FORMAT: 'pretty' }, false).logFormat).toBe('pretty');
  });

  it('treat blank values as unset, and trim values', () => {
    const names = ['PORT', 'ROLE', 'DATABASE_URL', 'ENCRYPTION_KEYS', 'TRUST_PROXY', 'CORS_ORIGINS', 'METRICS_PORT'];
    expect(readSettings(Object.fromEntries(names.map((name) => [name, '  '])))).toEqual(readSettings({}));
    expect(readSettings({ PORT: ' 80 ' }).port).toBe(80);
  });

  it('cannot be changed later', () => {
    const settings = readSettings({});
    expect(() => Object.assign(settings, { port: 1 })).toThrow(TypeError);
  });

  it.each([
    ['PORT', '0', 'port', 0],
    ['PORT', '65535', 'port', 65535],
    ['HOST', '::1', 'host', '::1'],
    ['ROLE', 'api', 'role', 'api'],
    ['ROLE', 'worker', 'role', 'worker'],
    [
      'DATABASE_URL',
      'postgresql://u:p@db:5432/x?sslmode=require',
      'databaseUrl',
      'postgresql://u:p@db:5432/x?sslmode=verify-full',
    ],
    ['DATABASE_URL', 'postgres://db/x', 'databaseUrl', 'postgres://db/x'],
    ['DATA_DIR', '/var/lib/x', 'dataDir', '/var/lib/x'],
    ['REDIS_URL', 'redis://:p@cache:6379/1', 'redisUrl', 'redis://:p@cache:6379/1'],
    ['REDIS_URL', 'rediss://cache', 'redisUrl', 'rediss://cache'],
    ['DEFAULT_PLAN', 'ENTERPRISE', 'defaultPlan', 'ENTERPRISE'],
    ['DEFAULT_PLAN', 'FREE', 'firstPlan', 'FREE'],
    ['BOOTSTRAP_API_KEY', 'x'.repeat(16), 'bootstrapApiKey', 'x'.repeat(16)],
    ['TRUST_PROXY', 'true', 'trustProxy', true],
    ['TRUST_PROXY', '2', 'trustProxy', 2],
    ['TRUST_PROXY', 'loopback, 10.0.0.0/8,::1,fd00::/8', 'trustProxy', ['loopback', '10.0.0.0/8', '::1', 'fd00::/8']],
    [
      'CORS_ORIGINS',
      'https://a.example, http://localhost:5173',
      'corsOrigins',
      ['https://a.example', 'http://localhost:5173'],
    ],
    ['CORS_ORIGINS', '*', 'corsOrigins', ['*']],
    ['LOG_LEVEL', 'silent', 'logLevel', 'silent'],
    ['METRICS_PORT', '9464', 'metricsPort', 9464],
    ['DATABASE_POOL_SIZE', '2', 'databasePoolSize', 2],
    ['WEB_CONCURRENCY', '1', 'port', 3000],
    ['WORKER_CONCURRENCY', '1000', 'workerConcurrency', 1000],
    ['VOICE_CONCURRENCY', '100', 'voiceConcurrency', 100],
    ['CALL_THREADS', '8', 'callThreads', 8],
    ['RECORDINGS', 'off', 'recordings', false],
    ['RECORDINGS', 'on', 'recordings', true],
    ['RECORDINGS_BYTES_PER_WORKSPACE', '5000000000', 'recordingsBytesPerWorkspace', 5_000_000_000],
    ['RECORDING_RETENTION_DAYS', '0', 'recordingRetentionDays', 0],
    ['JUDGE_SAMPLES', '1', 'judgeSamples', 1],
    ['JUDGE_SAMPLES', '3', 'judgeSamples', 3],
    ['RUN_RETENTION_DAYS', '0', 'runRetentionDays', 0],
    ['PRODUCTION_RETENTION_DAYS', '7', 'productionRetentionDays', 7],
    ['DELIVERY_RETENTION_DAYS', '7', 'deliveryRetentionDays', 7],
  ])('accept %s=%s', (name, value, field, expected) => {
    expect(readSettings({ [name]: value })[field as 'port']).toEqual(expected);
  });

  it('accept the rate of each plan', () => {
    const rates = { FREE: '1', PRO: '2', ENTERPRISE: '1000000000' };
    const env = Object.entries(rates).map(([plan, rate]) => [`PLAN_${plan}_REQUESTS_PER_MINUTE`, rate]);
    expect(readSettings(Object.fromEntries(env)).planLimits).toEqual({ FREE: 1, PRO: 2, ENTERPRISE: 1_000_000_000 });
  });

  it.each([
    ['PORT', ['-1', '65536', '80.5', '1e3', 'abc', '0x50'], 'must be a whole number from 0 to 65535'],
    ['METRICS_PORT', ['-1', '65536', 'no'], 'must be a whole number from 0 to 65535'],
    ['JUDGE_SAMPLES', ['0', '2', '5', 'three'], 'must be one of 1, 3'],
    ['VOICE_CONCURRENCY', ['0', '1001', 'many'], 'must be a whole number from 1 to 1000'],
    ['CALL_THREADS', ['0', '257', '2.5', 'auto'], 'must be a whole number from 1 to 256'],
    ['RECORDINGS', ['ON', 'true', 'no'], 'must be one of on, off'],
    ['RECORDINGS_BYTES_PER_WORKSPACE', ['-1', '5GB'], 'must be a whole number from 0 to 9007199254740991'],
    ['RECORDING_RETENTION_DAYS', ['-1', '30d'], 'must be a whole number from 0 to 36500'],
    ['RUN_RETENTION_DAYS', ['-1', '1.5', '36501', 'never'], 'must be a whole number from 0 to 36500'],
    ['DELIVERY_RETENTION_DAYS', ['-1', '30d'], 'must be a whole number from 0 to 36500'],
    ['ROLE', ['web', 'ALL'], 'must be one of all, api, worker'],
    ['DEFAULT_PLAN', ['free', 'GOLD'], 'must be one of FREE, PRO, ENTERPRISE'],
    ['LOG_LEVEL', ['verbose'], 'must be one of trace, debug, info, warn, error, fatal, silent'],
    ['LOG_FORMAT', ['xml'], 'must be one of pretty, json'],
    [
      'PLAN_FREE_REQUESTS_PER_MINUTE',
      ['0', '-5', '1.5', 'many', '1000000001'],
      'must be a whole number from 1 to 1000000000',
    ],
    ['PLAN_PRO_REQUESTS_PER_MINUTE', ['0'], 'must be a whole number from 1 to 1000000000'],
    ['PLAN_ENTERPRISE_REQUESTS_PER_MINUTE', ['custom'], 'must be a whole number from 1 to 1000000000'],
    ['DATABASE_POOL_SIZE', ['1', '1001'], 'must be a whole number from 2 to 1000'],
    // Platforms set it by themselves (heroku/buildpacks-nodejs#210).
    ['WEB_CONCURRENCY', ['2', '28', '0', 'auto'], ONE_PROCESS],
    [
      'TRUST_PROXY',
      ['yes', '100', '999', '10.1', '10.0.0.0/33', 'loopback,nonsense', '-1'],
      'must be false, true, a number of proxies, or a comma-separated list of addresses or networks',
    ],
  ])('reject an invalid %s in one line with name, value and what is allowed', (name, values, allowed) => {
    for (const value of values) expect(errorLines({ [name]: value })).toEqual([`${name}="${value}" ${allowed}`]);
  });

  it.each([
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/x',
    'null',
    'file:///x',
    'https://a.example;https://b.example',
  ])('reject CORS_ORIGINS with the entry %s, and name the entry', (entry) => {
    const [line, ...more] = errorLines({ CORS_ORIGINS: `https://ok.example,${entry}` });
    expect(more).toEqual([]);
    expect(line).toBe(
      `CORS_ORIGINS="https://ok.example,${entry}" must be a comma-separated list of origins such as ` +
        `https://app.example.com, but "${entry}" is not one`,
    );
  });

  it.each([
    ['AGENT_PROVIDER_1_URL', 'htps://user:hunter2@agent.example.com/v1', 'htps://[redacted]@agent.example.com/v1'],
    ['AGENT_PROVIDER_1_URL', 'https://user:hunter2@agent.example.com/', 'https://[redacted]@agent.example.com/'],
    ['AGENT_PROVIDER_1_URL', 'htps://agent.example.com/v1?key=hunter2', 'htps://agent.example.com/v1?[redacted]'],
    ['LLM_BASE_URL', 'ht//user:hunter2@llm.example.com', 'ht//[redacted]@llm.example.com'],
    ['LLM_BASE_URL', 'user:hunter2@llm.example.com', '[redacted]@llm.example.com'],
    ['PUBLIC_URL', 'https://user:hun@ter2@tests.example.com', 'https://[redacted]@tests.example.com'],
    ['CORS_ORIGINS', 'https://a.example,https://u:hunter2@b.example', 'https://a.example,https://[redacted]@b.example'],
  ])('reject an invalid %s without the credentials in its value %s', (name, value, shown) => {
    const lines = errorLines({ [name]: value });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.startsWith(`${name}="${shown}" must `)).toBe(true);
    expect(lines[0]).not.toMatch(/hunter2|ter2/);
  });

  it('accept the short keys of language models that run locally', () => {
    const model = { LLM_BASE_URL: 'http://127.0.0.1:11434/v1', LLM_MODEL: 'some-model' };
    expect(readSettings({ ...model, LLM_API_KEY: 'EMPTY' }).languageModel?.apiKey).toBe('EMPTY');
    expect(errorLines({ ...model, LLM_API_KEY: 'hunter2 hunter2' })).toEqual([
      'LLM_API_KEY must have 1 to 4096 visible ASCII characters',
    ]);
  });

  it.each([
    [
      'DATABASE_URL',
      ['mysql://user:hunter2@db/x', 'hunter2', 'user:hunter2@db'],
      'must be an address that begins with postgresql:// or postgres://',
    ],
    ['REDIS_URL', ['http://:hunter2@cache', 'hunter2'], 'must be an address that begins with redis:// or rediss://'],
    [
      'BOOTSTRAP_API_KEY',
      ['hunter2', 'hunter2 hunter2 hunter2', 'hunter2'.repeat(40)],
      'must have 16 to 255 visible ASCII characters',
    ],
    [
      'ENCRYPTION_KEYS',
      [
        'hunter2',
        `k1:hunter2`,
        `:${KEY}`,
        `k 1:${KEY}`,
        `k1:${KEY}${KEY}`,
        'hunter2,k1:x',
        `k1:${KEY},hunter2`,
        `k1:${KEY},k1:${KEY}`,
        ',',
      ],
      'must ',
    ],
  ])('reject an invalid %s in one line without its value, which is secret', (name, values, allowed) => {
    for (const value of values) {
      const lines = errorLines({ [name]: value });
      expect(lines).toHaveLength(1);
      expect(lines[0]?.startsWith(`${name} ${allowed}`)).toBe(true);
      expect(lines[0]).not.toContain('hunter2');
      expect(lines[0]).not.toContain(KEY.slice(0, 8));
    }
  });

  it('include a language model if its address and name are both given', () => {
    const server = { LLM_BASE_URL: 'https://llm.example/v1', LLM_MODEL: 'small' };
    const model = { baseUrl: server.LLM_BASE_URL, model: 'small', apiKey: undefined, prices: undefined };
    expect(readSettings(server).languageModel).toEqual(model);
    const priced = { ...server, LLM_API_KEY: 'x'.repeat(16), LLM_PRICE_PROMPT: '0.15', LLM_PRICE_COMPLETION: '0' };
    expect(readSettings(priced).languageModel).toEqual({
      ...model,
      apiKey: 'x'.repeat(16),
      prices: { prompt: 0.15, completion: 0 },
    });
  });

  it.each([
    [{ LLM_BASE_URL: 'http://llm' }, 'LLM_MODEL must be set together with LLM_BASE_URL'],
    [{ LLM_MODEL: 'small' }, 'LLM_BASE_URL must be set together with LLM_MODEL'],
    [{ LLM_API_KEY: 'x'.repeat(16) }, 'LLM_BASE_URL must be set together with LLM_API_KEY'],
    [{ LLM_PRICE_PROMPT: '1' }, 'LLM_PRICE_COMPLETION must be set together with LLM_PRICE_PROMPT'],
    [{ LLM_PRICE_COMPLETION: '1' }, 'LLM_PRICE_PROMPT must be set together with LLM_PRICE_COMPLETION'],
    [
      { LLM_PRICE_PROMPT: '$1', LLM_PRICE_COMPLETION: '1' },
      'LLM_PRICE_PROMPT="$1" must be an amount such as 0.15, without a currency',
    ],
    [
      { AGENT_PROVIDER_1_PROTOCOL: 'iax' },
      'AGENT_PROVIDER_1_PROTOCOL="iax" must be one of chat-completions, twilio-media-streams, openai-realtime, elevenlabs, elevenlabs-text, vapi, vapi-chat, retell, retell-text, pipecat, sip',
    ],
    // Only the tests have this protocol.
    [
      { AGENT_PROVIDER_1_PROTOCOL: 'fixture-wire' },
      'AGENT_PROVIDER_1_PROTOCOL="fixture-wire" must be one of chat-completions, twilio-media-streams, openai-realtime, elevenlabs, elevenlabs-text, vapi, vapi-chat, retell, retell-text, pipecat, sip',
    ],
    [
      { AGENT_PROVIDER_2_URL: 'ftp://agents' },
      'AGENT_PROVIDER_2_URL="ftp://agents" must be an address that begins with http://, https://, ws://, wss://, sip: or sips:',
    ],
    [
      { AGENT_PROVIDER_3_URL: 'https://agents/{id}' },
      'AGENT_PROVIDER_3_URL="https://agents/{id}" must have no placeholder except {assistantId}, {phoneNumber} and {callId}',
    ],
    [
      { AGENT_PROVIDER_4_URL: 'https://u:p@agents/' },
      'AGENT_PROVIDER_4_URL="https://[redacted]@agents/" must not contain a user name or password',
    ],
    [
      { AGENT_PROVIDER_1_URL: 'https:agents/v1' },
      'AGENT_PROVIDER_1_URL="https:agents/v1" must be an address that begins with http://, https://, ws://, wss://, sip: or sips:',
    ],
  ])('reject incomplete or invalid settings of the model or agents: %j', (env, line) => {
    expect(errorLines(env)).toEqual([line]);
  });

  // A placeholder there would let editors send the provider's default key to a server of their own.
  it.each([
    'https://{assistantId}/v1',
    'https://{assistantId}.example.com/v1',
    'https://agents.example.com{assistantId}',
    'https://agents.example.com:{callId}/v1',
    'https://{phoneNumber}@agents.example.com/v1',
    'https://agents.example.com:443{assistantId}?a=b',
    '{assistantId}://agents.example.com/v1',
    'https:{assistantId}/v1',
    'https:/{assistantId}/v1',
    'https:///{assistantId}/v1',
    'https://\t/{assistantId}/v1',
    String.raw`https:\\{assistantId}/v1`,
  ])('reject a placeholder outside of path and query: %s', (url) => {
    expect(errorLines({ AGENT_PROVIDER_1_URL: url })).toEqual([
      expect.stringMatching(
        /^AGENT_PROVIDER_1_URL=.* must (have placeholders in its path and query only|be an address that begins with)/,
      ),
    ]);
  });

  it.each(['https://agents.example?call={callId}', 'https://agents.example:8443/{assistantId}/{phoneNumber}'])(
    'allow placeholders in path and query: %s',
    (url) => expect(readSettings({ AGENT_PROVIDER_1_URL: url }).agentProviders.AGENT_PROVIDER_1.url).toBe(url),
  );

  it('include the URL of the agents of each provider', () => {
    const url = 'https://agents.example/{assistantId}/call?to={phoneNumber}';
    expect(readSettings({ AGENT_PROVIDER_2_URL: url }).agentProviders.AGENT_PROVIDER_2).toEqual({
      protocol: 'chat-completions',
      url,
      transcription: 'auto',
    });
  });

  it('allow a WebSocket address for a protocol that has one', () => {
    const [url, protocol] = ['wss://agents.example/media', 'twilio-media-streams'] as const;
    const AGENT_PROVIDER_2_PROTOCOL = protocol;
    expect(
      readSettings({ AGENT_PROVIDER_2_PROTOCOL, AGENT_PROVIDER_2_URL: url }).agentProviders.AGENT_PROVIDER_2,
    ).toEqual({ protocol, textProtocol: undefined, url, concurrency: undefined, transcription: 'auto' });
    expect(errorLines({ AGENT_PROVIDER_2_URL: url })).toEqual([
      'AGENT_PROVIDER_2_URL must begin with http:// or https:// for chat-completions',
    ]);
  });

  it('need no address where the protocol has one', () => {
    expect(readSettings({ AGENT_PROVIDER_2_PROTOCOL: 'openai-realtime' }).agentProviders.AGENT_PROVIDER_2).toEqual({
      protocol: 'openai-realtime',
      transcription: 'auto',
    });
  });

  it('have a second protocol over text beside one for voice calls, at the same address', () => {
    const AGENT_PROVIDER_2_PROTOCOL = 'twilio-media-streams';
    const AGENT_PROVIDER_2_TEXT_PROTOCOL = 'chat-completions';
    const both = { AGENT_PROVIDER_2_PROTOCOL, AGENT_PROVIDER_2_TEXT_PROTOCOL };
    expect(readSettings(both).agentProviders.AGENT_PROVIDER_2.textProtocol).toBe('chat-completions');
    expect(errorLines({ ...both, AGENT_PROVIDER_2_URL: 'wss://agents.example/media' })).toEqual([
      'AGENT_PROVIDER_2_URL must begin with http:// or https:// for chat-completions',
    ]);
    expect(errorLines({ AGENT_PROVIDER_2_TEXT_PROTOCOL: 'openai-realtime' })).toEqual([
      expect.stringMatching(/^AGENT_PROVIDER_2_TEXT_PROTOCOL="openai-realtime" must be one of chat-completions/),
    ]);
    expect(errorLines({ AGENT_PROVIDER_2_TEXT_PROTOCOL })).toEqual([
      'AGENT_PROVIDER_2_TEXT_PROTOCOL has no effect beside AGENT_PROVIDER_2_PROTOCOL=chat-completions, which is for text ' +
        'calls, too: set AGENT_PROVIDER_2_PROTOCOL to a protocol for voice calls, or to chat-completions',
    ]);
  });

  it('report all invalid settings, one line each', () => {
    const lines = errorLines({ PORT: 'x', ROLE: 'y', DATABASE_URL: 'z', HOST: 'fine', CORS_ORIGINS: 'a,b' });
    expect(lines.map((line) => line.split(/[= ]/, 1)[0]).sort()).toEqual([
      'CORS_ORIGINS',
      'DATABASE_URL',
      'PORT',
      'ROLE',
    ]);
  });

  it('escape line breaks of invalid values', () => {
    expect(errorLines({ PORT: '80\nDROP' })).toEqual([
      String.raw`PORT="80\nDROP" must be a whole number from 0 to 65535`,
    ]);
    expect(errorLines({ ROLE: 'a\nb' })).toHaveLength(1);
    expect(errorLines({ CORS_ORIGINS: 'a\nb' })).toHaveLength(1);
  });

  it('ignore unknown variables', () => expect(readSettings({ PATH: '/bin', X: 'y' })).toEqual(readSettings({})));
});

describe('encryption keys', () => {
  it('are parsed from a comma-separated list of id:base64 in order', () => {
    const [a, b] = [randomBytes(32), randomBytes(32)];
    expect(parseEncryptionKeys(`k2:${a.toString('base64')}, k1:${b.toString('base64')}`)).toEqual([
      { id: 'k2', key: a },
      { id: 'k1', key: b },
    ]);
  });

  it('can be base64url without padding', () => {
    const key = Buffer.alloc(32, 0xfb);
    expect(parseEncryptionKeys(`k:${key.toString('base64url')}`)).toEqual([{ id: 'k', key }]);
  });

  it.each([31, 33, 16, 64])('are rejected with a length of %i bytes', (bytes) => {
    expect(() => parseEncryptionKeys(`k1:${randomBytes(bytes).toString('base64')}`)).toThrow('exactly 32 bytes');
  });
});
