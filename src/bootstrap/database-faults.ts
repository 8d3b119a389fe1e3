import { messageOf } from '../platform/errors/message-of.js';

/** Codes of a server, a network or a name service that is starting, or a server whose connections are in use. */
const NOT_YET = new Set([
  ...['57P03', '57P01', '53300', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]);
/** The same of `pg`, which has no codes, and of poolers whose server is starting. */
const NOT_YET_MESSAGE =
  /^(Connection terminated|timeout expired|Query read timeout)|server_login_retry|server login (has been )?fail|query_wait_timeout|connect failed|connect timeout|server conn crashed/;

/** Whether a server that could not be reached may be available soon. */
export function isNotYet(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return syscall === 'connect';
  return NOT_YET.has(code ?? '') || NOT_YET_MESSAGE.test(messageOf(error));
}

const CURES: readonly (readonly [fault: RegExp, cure: string])[] = [
  [
    /unable to (verify|get)|self[- ]signed/,
    'Its certificate is not trusted: add sslrootcert=FILE to DATABASE_URL, with the certificate of its authority, or set NODE_EXTRA_CA_CERTS=FILE',
  ],
  [
    /does not match certificate/,
    'Use a name of its certificate in DATABASE_URL, or add uselibpqcompat=true&sslmode=verify-ca&sslrootcert=FILE',
  ],
  [/certificate has expired|certificate is not yet valid/, 'Renew its certificate, and check the clocks'],
  [/does not support SSL/, 'Set sslmode=disable in DATABASE_URL, or enable TLS on the server'],
  [
    /no encryption|SSL off|(SSL|TLS|encrypted|secure).*requir|requir.*(SSL|TLS)/i,
    'Add sslmode=require to DATABASE_URL',
  ],
  [
    /unsupported startup parameter/,
    'A connection pooler refuses that parameter: remove it from DATABASE_URL, or add it to ignore_startup_parameters of the pooler',
  ],
  [/no such file|permission denied, open|EISDIR|PEM|asn1/i, 'Check the files that DATABASE_URL names'],
  [/password must be a/, 'The server requires a password, and DATABASE_URL has none'],
  [
    /authentication failed/,
    'Check DATABASE_URL: in user name and password, characters other than letters and digits are percent-encoded',
  ],
  [/time(d )?out/i, "Check host and port in DATABASE_URL, firewalls, and the size of a pooler's pool"],
  [/database ".*" does not exist/, 'Check DATABASE_URL, or create the database'],
];

/** What an administrator can do about an error of connecting. */
export function cureOf(error: unknown): string {
  const message = messageOf(error);
  return CURES.find(([fault]) => fault.test(message))?.[1] ?? 'Check DATABASE_URL and that the server is running';
}
