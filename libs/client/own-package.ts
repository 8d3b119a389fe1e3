import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceOptions } from './requests.js';
import { send } from './retrying-fetch.js';

export interface OwnPackage {
  readonly version: string;
  /** Hash of the bundled client; missing in a checkout. */
  readonly build?: string;
}

/** The package.json next to the bundled program, or that of the checkout. */
export function ownPackage(folder = path.dirname(fileURLToPath(import.meta.url))): OwnPackage {
  const file = path.join(folder, 'package.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as OwnPackage;
  const parent = path.dirname(folder);
  return parent === folder ? { version: 'unknown' } : ownPackage(parent);
}

/** For `vat --version`. */
export const versionText = ({ version, build }: OwnPackage): string =>
  build === undefined ? version : `${version} (build ${build})`;

/** Long enough for a slow network; the check must not delay a command noticeably. */
const CHECK_MS = 3_000;

/**
 * A note if the service serves another build of the client: npx keeps a package per URL, and a downloaded one stays.
 * @returns undefined if the builds are equal or the service does not name its build
 */
export async function buildNote(
  { url, proxy }: Pick<ServiceOptions, 'url' | 'proxy'>,
  { build }: OwnPackage,
): Promise<string | undefined> {
  if (build === undefined) return undefined;
  const served = await servedBuild(url, proxy).catch(() => undefined);
  if (served === undefined || served === build) return undefined;
  return `Note: this is build ${build} of vat, and the service has build ${served}. Download ${url}/client.tgz again, or run: npx --yes --package "${url}/client.tgz?v=${served}" vat …`;
}

async function servedBuild(url: string, proxy: ServiceOptions['proxy']): Promise<string | undefined> {
  const signal = AbortSignal.timeout(CHECK_MS);
  const request = new Request(`${url}/client.tgz`, { method: 'HEAD' });
  const { headers } = await send(request, { redirect: 'manual', signal }, proxy);
  const build = headers.get('X-Client-Build');
  return build !== null && /^[0-9a-f]{12}$/.test(build) ? build : undefined;
}
