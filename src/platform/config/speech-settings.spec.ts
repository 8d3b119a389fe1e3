import { readSettings } from './settings.js';

describe('settings of speech servers', () => {
  const address = { TTS_BASE_URL: 'http://10.0.0.7:8880', TTS_VOICE_FEMALE: 'af_heart' };
  const read = (env: NodeJS.ProcessEnv) => readSettings(env).speechServers;

  it('need an address and a voice, and speak English unless they say otherwise', () => {
    const server = {
      setting: 'TTS',
      baseUrl: 'http://10.0.0.7:8880',
      apiKey: undefined,
      model: undefined,
      voices: { FEMALE: 'af_heart' },
      languages: ['en'],
    };
    expect(read(address)).toEqual(Object.fromEntries([1, 2, 3, 4].map((n) => [`PERSONALITY_PROVIDER_${n}`, server])));
    expect(read({})).toEqual({});
  });

  it('are all read, with languages in canonical form', () => {
    const { PERSONALITY_PROVIDER_1: server } = read({
      ...address,
      TTS_API_KEY: 'EMPTY',
      TTS_MODEL: 'kokoro',
      TTS_VOICE_MALE: 'am_adam',
      TTS_LANGUAGES: 'EN, de-at ,pt-BR',
    });
    expect(server).toMatchObject({ apiKey: 'EMPTY', model: 'kokoro', languages: ['en', 'de-AT', 'pt-BR'] });
    expect(server?.voices).toEqual({ FEMALE: 'af_heart', MALE: 'am_adam' });
  });

  it('of a provider of voices replace the common ones as a whole, so that no key goes to another server', () => {
    const servers = read({
      ...address,
      TTS_API_KEY: 'common-key',
      TTS_LANGUAGES: 'de',
      PERSONALITY_PROVIDER_2_TTS_BASE_URL: 'https://tts.example/v1',
      PERSONALITY_PROVIDER_2_TTS_VOICE_MALE: 'onyx',
    });
    expect(servers.PERSONALITY_PROVIDER_2).toEqual({
      setting: 'PERSONALITY_PROVIDER_2_TTS',
      baseUrl: 'https://tts.example/v1',
      apiKey: undefined,
      model: undefined,
      voices: { MALE: 'onyx' },
      languages: ['en'],
    });
    expect(servers.PERSONALITY_PROVIDER_3).toBe(servers.PERSONALITY_PROVIDER_1);
    expect(servers.PERSONALITY_PROVIDER_3?.apiKey).toBe('common-key');
  });

  it.each([
    [{ TTS_BASE_URL: 'tts.example' }, /^TTS_BASE_URL="tts.example" must be an address such as /],
    [{ TTS_BASE_URL: 'https://u:hunter2@tts.example' }, /^TTS_BASE_URL="https:\/\/\[redacted\]@tts.example" must be /],
    [{ ...address, TTS_API_KEY: 'hunter2 hunter2' }, /^TTS_API_KEY must have 1 to 4096 visible ASCII characters$/],
    [{ PERSONALITY_PROVIDER_4_TTS_API_KEY: 'hünter2' }, /^PERSONALITY_PROVIDER_4_TTS_API_KEY must have 1 to 4096/],
    [
      { ...address, TTS_LANGUAGES: 'en,deutsch' },
      /^TTS_LANGUAGES="en,deutsch" must be a .*, but "deutsch" is not one$/,
    ],
    [{ ...address, TTS_LANGUAGES: 'en,,de' }, /^TTS_LANGUAGES="en,,de" must be a .*, but "" is not one$/],
    [{ ...address, TTS_VOICE_MALE: 'x'.repeat(256) }, /^TTS_VOICE_MALE="x+" must have at most 255 characters$/],
    [{ TTS_API_KEY: 'hunter2' }, /^TTS_BASE_URL must be set together with TTS_API_KEY$/],
    [{ TTS_LANGUAGES: 'de' }, /^TTS_BASE_URL must be set together with TTS_LANGUAGES$/],
    [
      { ...address, PERSONALITY_PROVIDER_2_TTS_MODEL: 'm' },
      /^PERSONALITY_PROVIDER_2_TTS_BASE_URL must be set together with PERSONALITY_PROVIDER_2_TTS_MODEL$/,
    ],
    [{ TTS_BASE_URL: 'http://tts' }, /^TTS_VOICE_FEMALE or TTS_VOICE_MALE must be set together with TTS_BASE_URL$/],
  ])('are refused in one line without secrets: %j', (env, line) => {
    expect(() => readSettings(env)).toThrow(line);
    expect(() => readSettings(env)).not.toThrow(/h[uü]nter2/);
  });
});
