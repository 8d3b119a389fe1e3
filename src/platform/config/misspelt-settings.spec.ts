import { misspeltSettings } from './misspelt-settings.js';

describe('misspeltSettings', () => {
  it.each([
    ['AGENT_PROVDER_1_URL', 'AGENT_PROVIDER_1_URL'],
    ['AGENT_PROVIDER_5_URL', 'AGENT_PROVIDER_1_URL'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['LLM_APIKEY', 'LLM_API_KEY'],
    ['OUTBOUND_ALLOWED_NETWORK', 'OUTBOUND_ALLOWED_NETWORKS'],
    ['database_url', 'DATABASE_URL'],
  ])('takes %s for %s', (name, nearest) => {
    expect(misspeltSettings({ [name]: 'x' })).toEqual([{ name, nearest }]);
  });

  it('leaves settings and common variables of other programs alone', () => {
    const common = ['HOME', 'HOSTNAME', 'PATH', 'PWD', 'TERM', 'USER', 'NODE_ENV', 'NODE_OPTIONS', 'PGHOST', 'LANG'];
    const settings = ['PORT', 'HOST', 'ROLE', 'DATABASE_URL', 'AGENT_PROVIDER_4_URL', 'RUN_RETENTION_DAYS'];
    const env = Object.fromEntries([...common, ...settings].map((name) => [name, 'x']));
    expect(misspeltSettings(env)).toEqual([]);
  });
});
