import { environmentProxy, type EnvironmentProxy, InvalidProxyError } from '../../../libs/environment-proxy/index.js';
import { SettingsError } from './setting-validators.js';

/** A server that the administrator sets. */
export interface Proxied {
  /** By `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; undefined if it is reached without one. */
  readonly proxy: EnvironmentProxy | undefined;
}

/** Adds the proxy to a server. @throws SettingsError if the variable is not the address of a proxy */
export function proxied<S extends { readonly baseUrl: string }>(
  server: S | undefined,
  env: NodeJS.ProcessEnv,
): (S & Proxied) | undefined {
  if (!server) return undefined;
  try {
    return { ...server, proxy: environmentProxy(new URL(server.baseUrl), env) };
  } catch (error) {
    if (error instanceof InvalidProxyError) throw new SettingsError(error.message);
    throw error;
  }
}
