import { type EnvironmentProxy, ProxyRefusal } from '../environment-proxy/index.js';
import type { ErrorIssue } from './answers.js';

/** Exit codes (docs/guides/ci.md). */
export const EXIT = {
  /** The gate is met. */
  met: 0,
  /** The gate is not met, by calls that count. */
  notMet: 1,
  /** Not everything could be tested, or there is no result: says nothing about the agent. */
  noResult: 2,
  /** Wrong usage or configuration: the same command will fail again. */
  misused: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error with a message for the user and a hint on how to resolve it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /**
   * @param details one sentence each
   * @param cure how to resolve it, a sentence
   */
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly details: readonly string[],
    readonly cure: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Wrong usage or configuration. */
export const misuse = (message: string, cure: string) => new CommandError(EXIT.misused, message, [], cure);

/** An error response of the service. */
export class RefusedError extends CommandError {
  constructor(
    readonly status: number,
    readonly code: string,
    /** The message of the service. */
    readonly reason: string,
    readonly issues: readonly ErrorIssue[],
    /** For a 404: what the command asked for, and where; the service does not repeat it. */
    missing?: string,
  ) {
    const text =
      status === 404 && missing !== undefined
        ? `${missing} (${status} ${code})`
        : `The service refused: ${status} ${code}: ${reason}`;
    super(
      exitCodeOf(status),
      text,
      issues.map(({ message }) => message),
      cureOf(status),
    );
  }
}

/** 408, 429 and 5xx are temporary; other errors are wrong usage. */
const exitCodeOf = (status: number): ExitCode => (isTemporary(status) ? EXIT.noResult : EXIT.misused);

export const isTemporary = (status: number): boolean => status >= 500 || status === 408 || status === 429;

function cureOf(status: number): string {
  switch (status) {
    case 400:
      return 'Correct the above; see the --help of the command.';
    case 401:
      return 'Set VAT_API_KEY to a valid key of the service at VAT_URL (or --url); an administrator of the workspace creates keys with POST /workspace/api-keys.';
    case 403:
      return 'The key must belong to the same workspace, and its role must suffice: what changes something requires EDITOR, and some of it ADMIN.';
    case 404:
      return 'Check the identifier, and the URL of the service (VAT_URL or --url); vat agents lists the agents.';
    case 409:
      return 'Resolve the conflict, then run the command again.';
    case 408:
      return 'Run the command again; if it is repeated, check the network between this machine and the service.';
    case 413:
      return 'Send a smaller file.';
    case 422:
      return 'Correct the above; see the --help of the command.';
    case 429:
      return "The workspace's rate limit is exceeded; upgrade its plan or start fewer jobs at once.";
    default:
      return status >= 500
        ? 'See the log of the service.'
        : 'Check that VAT_URL is the right service, and that no proxy before it answers instead.';
  }
}

/** The service is unreachable. */
export class UnreachableError extends CommandError {
  /** @param wasReached whether an earlier request was answered, so that the name did resolve */
  constructor(url: string, cause: unknown, wasReached = false, proxy?: EnvironmentProxy) {
    const code = codeOf(cause);
    const isRefused = cause instanceof ProxyRefusal && cause.status < 500;
    const isMisconfigured = CERTIFICATE.test(code) || NOT_HTTP.test(code) || (!wasReached && UNRESOLVED.test(code));
    // The text of OpenSSL contains addresses in memory and lines of its source code.
    const reason = TLS.test(code) ? `the TLS handshake failed: ${code}` : reasonOf(cause);
    const way = proxy ? ` through the proxy ${proxy.url} (${proxy.variable})` : '';
    super(
      isMisconfigured || isRefused ? EXIT.misused : EXIT.noResult,
      `The service at ${url} cannot be reached${way}: ${reason}`,
      [],
      proxy && !CERTIFICATE.test(code) ? cureOfProxy(proxy) : cureOfConnection(code),
      { cause },
    );
  }
}

const cureOfProxy = ({ variable }: EnvironmentProxy): string =>
  `Correct ${variable}, or exempt the host of the service with NO_PROXY if it is reached without the proxy.`;

/** Codes of a host name without an address. */
const UNRESOLVED = /^(ENOTFOUND|EAI_AGAIN|EAI_NONAME)$/;
/** Codes of a certificate that is not trusted, not valid at this time, or for another host (Node's list of X.509 codes). */
const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** Codes of a first line that is not one of HTTP: another server has the port. */
const NOT_HTTP = /^HPE_INVALID_(CONSTANT|VERSION)$/;
/** Codes of a handshake that fails before a certificate is checked, above all with a server without TLS. */
const TLS = /^(ERR_SSL_|EPROTO$)/;

/** The innermost code of an error and its causes; empty without one. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return codeOf(error.cause) || ((error as NodeJS.ErrnoException).code ?? '');
}

/** Whether a connection failed because of the service's certificate, which no further attempt changes. */
export const isCertificateError = (error: unknown): boolean => CERTIFICATE.test(codeOf(error));

function cureOfConnection(code: string): string {
  if (TLS.test(code)) {
    return 'Set VAT_URL (or --url) to the address of the proxy that provides TLS; the service itself speaks http only.';
  }
  if (!CERTIFICATE.test(code)) return 'Start the service, or set VAT_URL (or --url) to its URL.';
  if (/ALTNAME|HOSTNAME/.test(code)) return 'Set VAT_URL (or --url) to a host name that the certificate contains.';
  if (/EXPIRED|NOT_YET/.test(code)) return 'Renew the certificate of the service, or set the clock of this machine.';
  return 'Set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of the authority that signed it; the service must send intermediate certificates.';
}

/** Why a connection failed; the cause of `fetch failed` is more specific than its message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it does not respond in time';
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}
