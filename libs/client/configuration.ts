import { readFile } from 'node:fs/promises';
import { misuse } from './errors.js';
import type { ServiceOptions } from './service.js';

export const DEFAULT_URL = 'http://localhost:3000';

/**
 * Reads the URL of the service and the API key. The key is never an argument, because process lists show arguments.
 * @param url value of `--url`, which overrides `VAT_URL`
 * @throws CommandError
 */
export async function readConfiguration(url: string | undefined, env: NodeJS.ProcessEnv): Promise<ServiceOptions> {
  const [name, address] =
    url === undefined ? (['VAT_URL', env['VAT_URL'] ?? DEFAULT_URL] as const) : (['--url', url] as const);
  return { url: readUrl(name, address), apiKey: await readKey(env) };
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
  const { VAT_API_KEY: value, VAT_API_KEY_FILE: file } = env;
  if (value && file) throw misuse('VAT_API_KEY and VAT_API_KEY_FILE are both set', 'Set only one of them.');
  if (!value && !file) {
    throw misuse(
      'VAT_API_KEY is not set',
      'Set it to an API key of the workspace, or set VAT_API_KEY_FILE to a file that contains one.',
    );
  }
  const key = (value || (await readKeyFile(file!))).trim();
  const where = value ? 'VAT_API_KEY' : file;
  if (!/^[\x21-\x7E]+$/.test(key))
    throw misuse(`${where} does not contain an API key`, 'A key is one word that begins with vat_.');
  return key;
}

async function readKeyFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw misuse(
      `VAT_API_KEY_FILE cannot be read: ${(error as Error).message}`,
      'Set it to a file that contains the key and that you may read.',
    );
  }
}
