/** What is sent to an agent and must not be shown if the agent repeats it. */
export interface SentSecrets {
  /** Removed from excerpts of what the agent sent. */
  readonly all: readonly string[];
  /** Those removed from the transcript, too: others may be words that the agent has to say. */
  readonly spoken: readonly string[];
}

/** Length from which any secret is removed from the transcript. */
const LONG_SECRET = 16;
/** The same for secrets with letters and digits, and for what headers with a telling name contain. */
const MIXED_SECRET = 8;
const NAMED_SECRET = 6;
/** Headers whose values or names say that they contain a secret. */
const SCHEME = /^\s*(basic|bearer|token|apikey|digest|key)\s+(\S.*)$/is;
const SECRET_NAME = /auth|key|token|secret|cookie|passw|credential|signature|session/i;

/** The secrets among keys, header values and an address. @param urlSecrets from `secretsOfUrl` */
export function sentSecrets(
  keys: readonly (string | undefined)[],
  headers: Readonly<Record<string, string>>,
  urlSecrets: readonly string[],
): SentSecrets {
  const parts = Object.entries(headers).map(([name, value]) => [name, partsOfHeader(value)] as const);
  const credentials = [...keys.filter((key) => key !== undefined), ...parts.flatMap(([, values]) => values)];
  const named = parts.flatMap(([name, values]) =>
    SECRET_NAME.test(name) || SCHEME.test(headers[name] ?? '') ? values : [],
  );
  return {
    all: [...credentials, ...urlSecrets],
    spoken: [
      ...credentials.filter((secret) => secret.length >= LONG_SECRET || isMixed(secret)),
      ...named.filter(({ length }) => length >= NAMED_SECRET),
      ...urlSecrets.filter(({ length }) => length >= LONG_SECRET),
    ],
  };
}

const isMixed = (secret: string): boolean =>
  secret.length >= MIXED_SECRET && /[a-z]/i.test(secret) && /\d/.test(secret);

/**
 * A header value and the parts that may be secrets by themselves: the token after a scheme such as `Bearer`, the user name
 * and password of `Basic`, the values of cookies and parameters.
 */
function partsOfHeader(value: string): string[] {
  const text = value.trim();
  const [, scheme = '', rest = text] = SCHEME.exec(text) ?? [];
  const pieces = rest
    .split(/[\s,;]+/)
    .flatMap((piece) => [piece, piece.slice(piece.indexOf('=') + 1).replaceAll('"', '')]);
  const basic = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString('utf8') : '';
  const password = basic.slice(basic.indexOf(':') + 1);
  const parts = [text, rest, basic, password, ...pieces.filter(({ length }) => length >= NAMED_SECRET)];
  return [...new Set(parts)].filter((part) => part !== '');
}
