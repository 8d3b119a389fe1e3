import { oneLine, REDACTED, Redaction, visible } from '../../text/index.js';
import { EXCHANGE_LIMITS } from './call-exchange.js';
import type { FailureDetail } from '../timeline/failure.js';
import { sanitizeText, truncate } from '../timeline/text.js';

/** Only the beginning is searched for secrets; more than is shown, because their removal shortens it. */
const MAX_SEARCHED = 8 * EXCHANGE_LIMITS.excerpt;

/** A server as failures describe it: by an address without secrets, and by what it said, without the secrets it was sent. */
export class OtherSide {
  private redaction: Redaction | undefined;

  /**
   * @param address what is shown as its address
   * @param secrets what must not be shown if it is repeated
   */
  constructor(
    readonly address: string,
    private readonly secrets: readonly string[],
  ) {}

  /** The details of a failure. */
  describe({ what, said, ...detail }: Omit<FailureDetail, 'address'>): FailureDetail {
    return {
      ...detail,
      what: what === undefined ? undefined : this.clean(what),
      said: said === undefined ? undefined : this.excerpt(said),
      address: this.address,
    };
  }

  /** The beginning of what it sent, on one line. */
  excerpt(text: string): string {
    return truncate(this.clean(text), EXCHANGE_LIMITS.excerpt);
  }

  private clean(text: string): string {
    this.redaction ??= new Redaction(this.secrets);
    return oneLine(visible(this.redaction.clean(sanitizeText(text.slice(0, MAX_SEARCHED)))));
  }
}

/** The URL without what may be a secret: user name, password, query, fragment, and long parts of the path with digits. */
export function withoutSecrets(url: string): string {
  const address = url.replace(/[?#].*$/s, '').replace(/^([^/]*:\/\/)[^/]*@/, '$1');
  const [scheme, empty, authority, ...path] = address.split('/');
  return [scheme, empty, authority, ...path.map((part) => (isSecretSegment(part) ? REDACTED : part))].join('/');
}

/** Shorter values are hardly secrets, and would be removed from ordinary text. */
const MIN_VALUE = 8;

/**
 * The parts of a URL that may be secrets: user name and password, values of the query, and long parts of the path, without
 * those that have placeholders.
 */
export function secretsOfUrl(template: string): string[] {
  const [, authority = '', path = '', query = ''] = /^[^/]*:\/\/([^/?#]*)([^?#]*)\??([^#]*)/.exec(template) ?? [];
  const [, user = ''] = /^(.*)@/.exec(authority) ?? [];
  const values = query.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1));
  const segments = path.split('/').filter(isSecretSegment);
  return [...user.split(':'), ...values.filter(({ length }) => length >= MIN_VALUE), ...segments]
    .filter((value) => value !== '' && !/\{\w+\}/.test(value))
    .flatMap((value) => [value, decoded(value)]);
}

const isSecretSegment = (segment: string): boolean =>
  segment.length >= 2 * MIN_VALUE && /\d/.test(segment) && !/\{\w+\}/.test(segment);

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
