import { readFile } from 'node:fs/promises';
import { environmentProxy, InvalidProxyError } from '../environment-proxy/index.js';
import { misuse } from './errors.js';
import type { ServiceOptions } from './requests.js';

export const DEFAULT_URL = 'http://localhost:3000';

/**
 * Reads the URL of the service and the API key.
 * @param url value of `--url`, which overrides `VAT_URL`
 * @throws CommandError
 */
export async function readConfiguration(url: string | undefined, env: NodeJS.ProcessEnv): Promise<ServiceOptions> {
  const [name, address] =
    url === undefined ? (['VAT_URL', env['VAT_URL'] ?? DEFAULT_URL] as const) : (['--url', url] as const);
  const serviceUrl = readUrl(name, address);
  return { url: serviceUrl, apiKey: await readKey(env), proxy: readProxy(serviceUrl, env) };
}

function readProxy(url: string, env: NodeJS.ProcessEnv): ServiceOptions['proxy'] {
  try {
    return environmentProxy(new URL(url), env);
  } catch (error) {
    if (!(error instanceof InvalidProxyError)) throw error;
    throw misuse(error.message, 'Correct the variable, or exempt the host of the service with NO_PROXY.');
  }
}

function readUrl(name: string, address: string): string {
  const cure = 'It must be the URL of the service, such as https://vat.example.com.';
  if (address.trim() === '') throw misuse(`${name} is empty`, cure);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw misuse(`${name} is not an http or https URL`, cure);
  if (url.username || url.password)
    throw misuse(`${name} must not contain credentials; use VAT_API_KEY for the key`, cure);
  if (url.search || url.hash) throw misuse(`${name} must not have a query or fragment`, cure);
  return url.href.replace(/\/+$/, '');
}

async function readKey(env: NodeJS.ProcessEnv): Promise<string> {
  const key = await readSecret('VAT_API_KEY', env);
  if (key !== undefined) return key;
  throw misuse(
    'VAT_API_KEY is not set',
    'Set it to an API key of the workspace, or set VAT_API_KEY_FILE to a file that contains one.',
  );
}

/**
 * A key from an environment variable, or from the file that `NAME_FILE` names. It is never an argument, because process
 * lists show arguments.
 * @returns undefined if neither is set
 * @throws CommandError
 */
export async function readSecret(
  name: 'VAT_API_KEY' | 'VAT_PROVIDER_KEY',
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { [name]: value, [`${name}_FILE`]: file } = env;
  if (value && file) throw misuse(`${name} and ${name}_FILE are both set`, 'Set only one of them.');
  if (!value && !file) return undefined;
  const key = (value || (await readKeyFile(`${name}_FILE`, file!))).trim();
  const where = value ? name : file;
  const cure = name === 'VAT_API_KEY' ? 'A key is one word that begins with vat_.' : 'A key is one word.';
  if (!/^[\x21-\x7E]+$/.test(key)) throw misuse(`${where} does not contain an API key`, cure);
  return key;
}

async function readKeyFile(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw misuse(
      `${name} cannot be read: ${(error as Error).message}`,
      'Set it to a file that contains the key and that you may read.',
    );
  }
}
