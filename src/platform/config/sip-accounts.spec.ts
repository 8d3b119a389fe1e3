import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readSettings, SettingsError } from './settings.js';

const ACCOUNT = {
  trunk: 'sip:trunk.example;transport=tls',
  user: 'me',
  number: '+4930100001',
  password: 'TRUNK_PASSWORD',
};
const OTHER = { ...ACCOUNT, user: 'you', number: '+4930100002' };

describe('SIP_ACCOUNTS', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'accounts-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const fileOf = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const read = (content: unknown, env: NodeJS.ProcessEnv = { TRUNK_PASSWORD: 'secret' }) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return readSettings({ ...env, SIP_ACCOUNTS: fileOf('accounts.json', text) }).sipAccounts;
  };
  const refusal = (content: unknown, env?: NodeJS.ProcessEnv): string => {
    try {
      read(content, env);
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      return (error as Error).message.replaceAll(folder, '');
    }
    throw new Error('accepted');
  };

  it('has accounts whose passwords are those of the settings that it names', () => {
    expect(read([ACCOUNT, OTHER])).toEqual([
      { ...ACCOUNT, password: 'secret' },
      { ...OTHER, password: 'secret' },
    ]);
  });

  it.each(['TRUNK_PASSWORD', 'TRUNK_PASSWORD_FILE'])('reads a password from the file of %s', (password) => {
    const file = fileOf('password', 'from a file\n');
    expect(read([{ ...ACCOUNT, password }], { TRUNK_PASSWORD_FILE: file })).toEqual([
      { ...ACCOUNT, password: 'from a file' },
    ]);
  });

  it.each([
    ['not json', 'the file /accounts.json is not JSON'],
    [{}, 'the file /accounts.json must have an array of accounts'],
    [[], 'the file /accounts.json must have an array of accounts'],
    [['x'], 'account 1 must be an object'],
    [[{ ...ACCOUNT, pasword: 'x' }], 'account 1 has the unknown field pasword: it has trunk, user, number, password'],
    [[{ ...ACCOUNT, trunk: undefined }], 'account 1.trunk must be a text'],
    [[{ ...ACCOUNT, trunk: 'trunk.example' }], 'account 1.trunk must begin with "sip:" or "sips:"'],
    [[{ ...ACCOUNT, trunk: 'sip:me@trunk.example' }], 'account 1.trunk must have no user'],
    [
      [{ ...ACCOUNT, trunk: 'sip:trunk.example;transport=udp' }],
      'account 1.trunk may only have the parameter "transport"',
    ],
    [[ACCOUNT, { ...OTHER, user: 'a b' }], 'account 2.user must have at most 128 letters'],
    [[{ ...ACCOUNT, user: 7 }], 'account 1.user must be a text'],
    [[{ ...ACCOUNT, number: '030 100001' }], 'account 1.number must be an E.164 number such as +4930123456'],
    [[{ ...ACCOUNT, password: 'pass word!' }], 'account 1.password must be the name of a setting'],
    [
      [{ ...ACCOUNT, password: 'OTHER' }],
      'account 1.password names the setting OTHER, and neither it nor OTHER_FILE is set',
    ],
    [[ACCOUNT, { ...OTHER, user: 'me' }], 'account 2 has the same trunk and user as account 1'],
    [[ACCOUNT, { ...OTHER, number: ACCOUNT.number }], 'account 2 has the same number as account 1'],
  ])('names the account, the field and the cause of a fault (%j)', (content, message) => {
    expect(refusal(content)).toContain(`SIP_ACCOUNTS: ${message}`);
  });

  it('names a file that cannot be read, its own or that of a password, and shows no password', () => {
    expect(() => readSettings({ SIP_ACCOUNTS: '/nowhere.json' })).toThrow('the file /nowhere.json cannot be read');
    const missing = refusal([ACCOUNT], { TRUNK_PASSWORD_FILE: '/nowhere' });
    expect(missing).toContain('account 1.password: the file /nowhere cannot be read');
    expect(refusal([{ ...ACCOUNT, password: 'my-Secret!' }])).not.toContain('my-Secret!');
  });
});
