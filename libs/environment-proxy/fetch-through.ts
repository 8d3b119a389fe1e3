import type { ProxyAgent } from 'undici';
import type { EnvironmentProxy } from './environment-proxy.js';

/** The proxy answered itself, and with an error. The message names it by its variable. */
export class ProxyRefusal extends Error {
  override readonly name = 'ProxyRefusal';

  constructor(
    { variable }: EnvironmentProxy,
    readonly status: number,
  ) {
    const why = status === 407 ? ': it asks for a user name and a password, or refuses those of the variable' : '';
    super(`the proxy of ${variable} answered with status ${status}${why}`);
  }
}

/** Sends a request for https through a tunnel, and another one as proxies take it: many allow no tunnels for http. */
export const agentOptions = ({ url, token }: EnvironmentProxy): ProxyAgent.Options => ({
  uri: url,
  proxyTunnel: false,
  ...(token !== undefined && { token }),
});

/** What an error of undici says of the proxy; undefined if it is about something else. */
export function refusalOf(error: unknown, proxy: EnvironmentProxy): ProxyRefusal | undefined {
  if (!(error instanceof Error)) return undefined;
  // Undici has no code for it.
  const [, status] = /^Proxy (?:response|Authentication Required) \((\d{3})\)/.exec(error.message) ?? [];
  return status === undefined ? refusalOf(error.cause, proxy) : new ProxyRefusal(proxy, Number(status));
}

const agents = new Map<string, ProxyAgent>();

/**
 * `fetch` through a proxy. That of undici, because Node's own may be of another version than the agent.
 * @throws ProxyRefusal; what `fetch` throws
 */
export async function fetchThrough(proxy: EnvironmentProxy, url: string, init: RequestInit): Promise<Response> {
  // Loaded on first use: most installations have no proxy.
  const undici = await import('undici');
  const key = JSON.stringify(proxy);
  const dispatcher = agents.get(key) ?? new undici.ProxyAgent(agentOptions(proxy));
  agents.set(key, dispatcher);
  let response: Response;
  try {
    response = await undici.fetch(url, { ...init, dispatcher } as never);
  } catch (error) {
    throw refusalOf(error, proxy) ?? error;
  }
  if (response.status !== 407) return response;
  await response.body?.cancel();
  throw new ProxyRefusal(proxy, 407);
}
