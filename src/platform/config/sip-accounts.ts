import { readFileSync } from 'node:fs';
import { isObject, shownName } from '../../../libs/json-input/index.js';
import type { SipAccount } from '../../../libs/simulation/index.js';
import { parseSipAddress } from '../../../libs/sip/index.js';
import { messageOf } from '../errors/message-of.js';
import { SettingsError } from './setting-validators.js';

const FIELDS = ['trunk', 'user', 'number', 'password'] as const;
type Field = (typeof FIELDS)[number];

const MAX_ACCOUNTS = 1_000;
/** E.164. */
const NUMBER = /^\+[1-9]\d{6,14}$/;
/** Unreserved characters of a user (RFC 3261), and `+`. */
const USER = /^[\w+.!~*'-]{1,128}$/;
const SETTING = /^[A-Za-z_]\w*$/;

/**
 * Reads the accounts on which agents that call out reach the tester.
 * @param file JSON, an array of accounts whose `password` names the setting that has it
 * @throws SettingsError that names the account, the field and the cause
 */
export function sipAccounts(file: string | undefined, env: NodeJS.ProcessEnv): readonly SipAccount[] {
  if (file === undefined) return [];
  const accounts = arrayIn(file).map((value, index) => accountOf(value, `account ${index + 1}`, env));
  const users = accounts.map(({ trunk, user }) => `${user}@${trunk}`);
  const numbers = accounts.map(({ number }) => number);
  accounts.forEach((_, index) => {
    const [user, number] = [users.indexOf(users[index]!), numbers.indexOf(numbers[index]!)];
    if (user < index) fault(`account ${index + 1} has the same trunk and user as account ${user + 1}: ${ONE_NUMBER}`);
    if (number < index) fault(`account ${index + 1} has the same number as account ${number + 1}`);
  });
  return accounts;
}

const ONE_NUMBER = 'a trunk offers each call to all devices of a user, so each number needs a user of its own';

function arrayIn(file: string): readonly unknown[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return fault(`the file ${file} cannot be read: ${messageOf(error)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser may quote the file.
    return fault(`the file ${file} is not JSON`);
  }
  if (!Array.isArray(value) || value.length === 0) return fault(`the file ${file} must have an array of accounts`);
  return value.length > MAX_ACCOUNTS ? fault(`the file ${file} must have at most ${MAX_ACCOUNTS} accounts`) : value;
}

function accountOf(value: unknown, name: string, env: NodeJS.ProcessEnv): SipAccount {
  if (!isObject(value)) return fault(`${name} must be an object`);
  const unknown = Object.keys(value).find((key) => !(FIELDS as readonly string[]).includes(key));
  if (unknown !== undefined) fault(`${name} has the unknown field ${shownName(unknown)}: it has ${FIELDS.join(', ')}`);
  const text = (field: Field): string => {
    const given = (value as Partial<Record<Field, unknown>>)[field];
    return typeof given === 'string' && given !== '' ? given : fault(`${name}.${field} must be a text`);
  };
  const [trunk, user, number] = [text('trunk'), text('user'), text('number')];
  if (!USER.test(user)) fault(`${name}.user must have at most 128 letters, digits and characters of _+.!~*'-`);
  if (!NUMBER.test(number)) fault(`${name}.number must be an E.164 number such as +4930123456`);
  checkTrunk(trunk, `${name}.trunk`);
  return { trunk, user, number, password: passwordOf(text('password'), `${name}.password`, env) };
}

function checkTrunk(trunk: string, name: string): void {
  try {
    if (parseSipAddress(trunk).user !== undefined) throw new Error('must have no user: that is a field of its own');
  } catch (error) {
    fault(`${name} ${messageOf(error)}: write sip:registrar.example.com;transport=tls`);
  }
}

function passwordOf(setting: string, name: string, env: NodeJS.ProcessEnv): string {
  if (!SETTING.test(setting)) fault(`${name} must be the name of a setting that has the password, not the password`);
  const file = setting.endsWith('_FILE') ? env[setting] : (env[`${setting}_FILE`] ?? '');
  const password = setting.endsWith('_FILE') || file ? secretIn(file, name) : (env[setting] ?? '').trim();
  return password === ''
    ? fault(`${name} names the setting ${setting}, and neither it nor ${setting}_FILE is set`)
    : password;
}

function secretIn(file: string | undefined, name: string): string {
  if (!file) return '';
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    return fault(`${name}: the file ${file} cannot be read: ${messageOf(error)}`);
  }
}

function fault(what: string): never {
  throw new SettingsError(`SIP_ACCOUNTS: ${what}`);
}
