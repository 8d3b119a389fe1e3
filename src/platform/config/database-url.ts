import { EnvError, makeValidator } from 'envalid';

const SCHEME = /^postgres(ql)?:\/\//i;
const TLS_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Parameters of other drivers that name the schema. */
const OF_SCHEMA = ['schema', 'currentSchema', 'search_path', 'searchPath'];

const isUtf8 = (encoded: string): boolean => {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
};

/** Credentials that are not percent-encoded, in an address without its scheme. */
function credentialsFault(rest: string): string | undefined {
  const [authority = ''] = /^[^/?#]*/.exec(rest) ?? [];
  const encoded = 'in user names and passwords';
  if (/%(?![0-9a-f]{2})/i.test(rest)) return `has a % that begins no code: write % as %25 ${encoded}`;
  if (rest.includes('#')) return `has a #: write # as %23 ${encoded}`;
  if (!isUtf8(rest)) return 'has a code that is not UTF-8: write ü as %C3%BC, for instance, not as %FC';
  // What follows the first @ behind a / or ? looks like a host: the part before it was meant as credentials.
  const hasCredentials = /^[^@/?]*[/?][^@=&]*@[^@/?]+(\/|$)/.test(rest);
  if (hasCredentials && (!URL.canParse(`postgres://${authority}`) || rest.lastIndexOf('/') > rest.indexOf('@'))) {
    return `has a / or ? before its host: write / as %2F and ? as %3F ${encoded}`;
  }
  return undefined;
}

/** Faults of an address that begins with a scheme of PostgreSQL, before it is parsed. */
function faultOf(rest: string): string | undefined {
  const fault = credentialsFault(rest);
  if (fault !== undefined) return fault;
  const [authority = ''] = /^[^/?]*/.exec(rest) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.includes(',') || /[?&]host=[^&]*,/.test(rest)) {
    return 'names several hosts: name the one that accepts writes, or an address that always leads to it';
  }
  if (!URL.canParse(`postgres://${/^(:\d*)?$/.test(host) ? `localhost${host}` : host}`)) {
    return 'has no valid host and port: write them as host:5432, and an IPv6 address as [::1]:5432';
  }
  const [, mode] = /[?&]sslmode=([^&]*)/.exec(rest) ?? [];
  if (mode !== undefined && !TLS_MODES.includes(mode)) return `has another sslmode than ${TLS_MODES.join(', ')}`;
  return undefined;
}

/**
 * The address of the database, in a form that `pg` reads as it is meant: with a host, as in libpq's form for sockets
 * `postgresql://user@/database?host=/run/postgresql`,
 * and with the TLS mode that `pg` applies.
 */
export const databaseUrl = makeValidator<string>((input) => {
  if (!SCHEME.test(input)) {
    const quotes = /^["'`]/.test(input) ? ', without quotes' : '';
    throw new EnvError(`must be an address that begins with postgresql:// or postgres://${quotes}`);
  }
  const fault = faultOf(input.replace(SCHEME, ''));
  if (fault !== undefined) throw new EnvError(fault);
  const url = input.replace(/^([^/]*\/\/(?:[^/?]*@)?)(?=[:/?]|$)/, '$1localhost');
  // `pg` treats these modes as verify-full already, with eight lines of warning, unless it is to follow libpq.
  const strict = /[?&]uselibpqcompat=true(&|$)/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
  // The authorities that Node trusts are the default; `pg` would look for a file of that name.
  return strict
    .replace(/([?&])sslrootcert=system(?=&|$)/, '$1sslmode=verify-full')
    .replace(/([?&]ssl=)false(?=&|$)/, (_, name: string) => `${name}0`);
});

/** A Redis client would take `u:12#x@host` for a host `u`, without a word. */
export const redisUrl = makeValidator<string>((input) => {
  if (!/^rediss?:\/\//i.test(input)) throw new EnvError('must be an address that begins with redis:// or rediss://');
  const fault = credentialsFault(input.replace(/^rediss?:\/\//i, ''));
  if (fault !== undefined) throw new EnvError(fault);
  if (!URL.canParse(input)) throw new EnvError('has no valid host and port: write them as host:6379');
  return input;
});

/** One sentence for each parameter of DATABASE_URL that looks as if it had an effect. */
export function databaseUrlWarnings(url: string | undefined): string[] {
  if (url === undefined) return [];
  const named = OF_SCHEMA.filter((name) => new URL(url).searchParams.has(name));
  return named.map(
    (name) =>
      `${name} in DATABASE_URL has no effect; options=-c%20search_path=NAME there names the schema of the tables`,
  );
}
