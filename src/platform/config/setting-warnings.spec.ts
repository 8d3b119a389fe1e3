import { hostNote, settingWarnings } from './setting-warnings.js';
import { readSettings } from './settings.js';

describe('settingWarnings', () => {
  it.each([
    ['AGENT_PROVDER_1_URL', 'AGENT_PROVIDER_1_URL'],
    ['AGENT_PROVIDER_5_URL', 'AGENT_PROVIDER_1_URL'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['LLM_APIKEY', 'LLM_API_KEY'],
    ['OUTBOUND_ALLOWED_NETWORK', 'OUTBOUND_ALLOWED_NETWORKS'],
    ['database_url', 'DATABASE_URL'],
    ['PERSONALITY_PROVIDER_5_TTS_BASE_URL', 'PERSONALITY_PROVIDER_1_TTS_BASE_URL'],
    ['TTS_LANGUAGE', 'TTS_LANGUAGES'],
  ])('takes %s for %s', (name, nearest) => {
    expect(settingWarnings({ [name]: 'x' })).toEqual([
      `${name} is not a setting and has no effect; did you mean ${nearest}?`,
    ]);
  });

  it('leaves settings and common variables of other programs alone', () => {
    const common = ['HOME', 'HOSTNAME', 'PATH', 'PWD', 'TERM', 'USER', 'NODE_ENV', 'NODE_OPTIONS', 'PGHOST', 'LANG'];
    const settings = [
      'PORT',
      'HOST',
      'ROLE',
      'DATABASE_URL',
      'AGENT_PROVIDER_4_URL',
      'TTS_MODEL',
      'RUN_RETENTION_DAYS',
    ];
    const env = Object.fromEntries([...common, ...settings].map((name) => [name, 'x']));
    expect(settingWarnings(env)).toEqual([]);
  });

  it('leaves the variables of vat alone', () => {
    expect(settingWarnings({ VAT_API_KEY: 'x', VAT_URL: 'x', VAT_AGENT: 'x' })).toEqual([]);
  });
});

describe('hostNote', () => {
  const note = (env: NodeJS.ProcessEnv) => hostNote(env, readSettings(env));

  it('says how to open the service to the network if HOST is not set', () => {
    for (const env of [{}, { HOST: ' ' }, { ROLE: 'worker', METRICS_PORT: '9090' }]) {
      expect(note(env)).toMatch(/only this machine .* 127\.0\.0\.1.* HOST=0\.0\.0\.0/);
    }
  });

  it('says nothing where HOST is set, or nothing listens', () => {
    for (const env of [{ HOST: '127.0.0.1' }, { HOST: '0.0.0.0' }, { ROLE: 'worker' }]) {
      expect(note(env)).toBeUndefined();
    }
  });
});
