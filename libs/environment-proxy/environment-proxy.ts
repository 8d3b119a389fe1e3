import { isExempt, isLoopback } from './no-proxy.js';

/** A proxy between this machine and servers outside. */
export interface EnvironmentProxy {
  /** Without user name and password. */
  readonly url: string;
  /** The variable that names it. */
  readonly variable: string;
  /** Value of `Proxy-Authorization`: a secret. */
  readonly token?: string;
}

/** For the name of a server in errors. */
export const through = (proxy: EnvironmentProxy | undefined): string => (proxy ? ` through ${proxy.variable}` : '');

/** A variable does not hold the address of a proxy. The message names it, and never its value, which may be a secret. */
export class InvalidProxyError extends Error {
  override readonly name = 'InvalidProxyError';
}

/**
 * The proxy for a server by `HTTP_PROXY` or `HTTPS_PROXY` and `NO_PROXY`; names in lower case take precedence, as for curl.
 * Without one, and for this machine itself: undefined.
 * @throws InvalidProxyError
 */
export function environmentProxy(target: URL, env: NodeJS.ProcessEnv): EnvironmentProxy | undefined {
  const variable = givenOf(target.protocol === 'https:' ? 'https_proxy' : 'http_proxy', env);
  const exempt = givenOf('no_proxy', env);
  if (variable === undefined || isLoopback(target)) return undefined;
  if (exempt !== undefined && isExempt(target, env[exempt] ?? '')) return undefined;
  return proxyOf(variable, env[variable]?.trim() ?? '');
}

/** Which of the two spellings is set; an empty one is not. */
const givenOf = (name: string, env: NodeJS.ProcessEnv): string | undefined =>
  [name, name.toUpperCase()].find((one) => env[one]?.trim());

function proxyOf(variable: string, value: string): EnvironmentProxy {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // An @ behind the host: its name and port are the beginning of credentials.
  if (!url || !['http:', 'https:'].includes(url.protocol) || /@/.test(url.pathname + url.search + url.hash)) {
    throw new InvalidProxyError(`${variable} must be the address of an http or https proxy, ${ENCODED}`);
  }
  const { username, password, origin } = url;
  if (username === '' && password === '') return { url: origin, variable };
  try {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return { url: origin, variable, token: `Basic ${Buffer.from(credentials).toString('base64')}` };
  } catch {
    throw new InvalidProxyError(`The user name or password in ${variable} is not encoded: it must be ${ENCODED}`);
  }
}

const ENCODED = 'such as http://user:password@proxy.example.com:3128, with # as %23, % as %25, / as %2F and @ as %40';
