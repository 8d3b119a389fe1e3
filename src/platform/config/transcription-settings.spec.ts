import { readSettings } from './settings.js';

describe('settings of the transcription of agents', () => {
  const address = { STT_BASE_URL: 'http://10.0.0.7:8000' };
  const read = (env: NodeJS.ProcessEnv) => readSettings(env).transcription;

  it('need an address only', () => {
    const server = { baseUrl: address.STT_BASE_URL, apiKey: undefined, model: undefined };
    expect(read(address)).toEqual({ ...server, concurrency: 4, isAlways: false });
    expect(read({ STT_CONCURRENCY: '8', STT_ALWAYS: 'false' })).toBeUndefined();
    const all = { ...address, STT_API_KEY: 'EMPTY', STT_MODEL: 'small', STT_CONCURRENCY: '1', STT_ALWAYS: 'true' };
    expect(read(all)).toEqual({ ...server, apiKey: 'EMPTY', model: 'small', concurrency: 1, isAlways: true });
  });

  it.each([
    ...['https://stt.example/v1', 'https://stt.example/v1/', 'https://stt.example', 'https://stt.example/'],
    'https://stt.example/v1/audio/transcriptions',
  ])('take %s for the base address, with and without version and path', (url) =>
    expect(read({ STT_BASE_URL: url })?.baseUrl).toBe('https://stt.example'),
  );

  it.each([
    [{ STT_BASE_URL: 'stt.example' }, /^STT_BASE_URL="stt.example" must be an address such as /],
    [{ STT_BASE_URL: 'https://u:hunter2@stt.example' }, /^STT_BASE_URL="https:\/\/\[redacted\]@stt.example" must be /],
    [{ ...address, STT_API_KEY: 'hunter2 hunter2' }, /^STT_API_KEY must have 1 to 4096 visible ASCII characters$/],
    [{ ...address, STT_CONCURRENCY: '0' }, /^STT_CONCURRENCY="0" must be a whole number from 1 to 1000$/],
    [{ ...address, STT_ALWAYS: 'yes' }, /^STT_ALWAYS="yes" must be one of true, false$/],
    [{ STT_API_KEY: 'hunter2' }, /^STT_BASE_URL must be set together with STT_API_KEY$/],
    [{ STT_MODEL: 'small' }, /^STT_BASE_URL must be set together with STT_MODEL$/],
    [{ STT_ALWAYS: 'true' }, /^STT_BASE_URL must be set together with STT_ALWAYS$/],
    [{ AGENT_PROVIDER_2_TRANSCRIPTION: 'on' }, /^AGENT_PROVIDER_2_TRANSCRIPTION="on" must be one of auto, heard, off$/],
  ])('are refused in one line without secrets: %j', (env, line) => {
    expect(() => readSettings(env)).toThrow(line);
    expect(() => readSettings(env)).not.toThrow(/hunter2/);
  });

  it('are the same for all agents of a provider', () => {
    const { agentProviders } = readSettings({ AGENT_PROVIDER_2_TRANSCRIPTION: 'off' });
    expect(agentProviders.AGENT_PROVIDER_2.transcription).toBe('off');
    expect(agentProviders.AGENT_PROVIDER_1.transcription).toBe('auto');
  });

  it('keep transcripts as long as runs, unless they say otherwise', () => {
    expect(readSettings({ RUN_RETENTION_DAYS: '9' }).transcriptRetentionDays).toBe(9);
    expect(readSettings({ TRANSCRIPT_RETENTION_DAYS: '7' }).transcriptRetentionDays).toBe(7);
    expect(() => readSettings({ TRANSCRIPT_RETENTION_DAYS: '7d' })).toThrow(
      'TRANSCRIPT_RETENTION_DAYS="7d" must be a whole number from 0 to 36500',
    );
  });
});
