import { STATUS_CODES } from 'node:http';
import type { EnvironmentProxy } from '../environment-proxy/index.js';
import { CommandError, EXIT, isTemporary, misuse } from './errors.js';

/** A proxy answered in place of the service. */
export class ForeignAnswerError extends CommandError {}

const FORWARDING = 'Start the service, and check the address to which the proxy forwards.';
/** What to do about the answers of proxies in front of the service. */
const CURES: Readonly<Record<number, string>> = {
  413: 'The proxy limits the size of requests: raise its limit (nginx: client_max_body_size) to 10 MB for suites and 200 MB for recordings, or send a smaller file.',
  429: 'The proxy limits the rate of requests: raise its limit, or start fewer jobs at once.',
  502: FORWARDING,
  503: FORWARDING,
  504: 'The proxy must allow 60 s and more until a response (nginx: proxy_read_timeout 90s), and reach the service.',
};

/** Describes an answer that did not come from the service. @param proxy between this machine and the service */
export function foreignAnswer(
  url: string,
  { status, statusText }: Pick<Response, 'status' | 'statusText'>,
  proxy: EnvironmentProxy | undefined,
): CommandError {
  const answer = `${status} ${statusText || (STATUS_CODES[status] ?? '')}`.trim();
  const way = proxy ? ` through the proxy ${proxy.url} (${proxy.variable})` : '';
  const own = proxy ? ` Or correct ${proxy.variable}, or exempt the host with NO_PROXY.` : '';
  if (isTemporary(status) || status in CURES) {
    const cure = CURES[status] ?? 'See the log of the proxy, and that of the service.';
    const code = isTemporary(status) ? EXIT.noResult : EXIT.misused;
    return new ForeignAnswerError(code, `A proxy answered for the service at ${url}${way}: ${answer}`, [], cure + own);
  }
  const isLogin = status === 401 || status === 403;
  const login = isLogin
    ? ' If a proxy asks for a login of its own, it must let requests with a key of the service pass.'
    : '';
  return misuse(
    `${url} is not the URL of the service${way}: its response (${answer}) is not from the service: it has no X-API-Version header`,
    `Set VAT_URL (or --url) to its URL.${login}${own}`,
  );
}
