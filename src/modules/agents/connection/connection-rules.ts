import { codePoints, shownName, suggestion } from '../../../../libs/json-input/index.js';
import type { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { type ProtocolModule, PROTOCOLS } from '../../../../libs/simulation/index.js';
import { isMasked, MASK } from '../../../platform/encryption/mask.js';
import { about, type Issue } from '../../../platform/errors/domain-error.js';
import { originOf } from '../../../platform/agent-address.js';
import { addressViolation } from './address-rules.js';
import type { ConnectionSecrets } from './agent-connection.entity.js';

export const MAX_HEADERS = 32;
const MAX_NAME = 255;
const MAX_VALUE = 4_096;
/** `token` of RFC 9110. */
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** No control characters, and nothing that needs more than a byte. */
const VALUE = /^[\x20-\x7e\xa0-\xff]*$/;
/** Set by the connection or by the service itself. */
const RESERVED =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|proxy-connection|te|trailer|expect|upgrade|sec-websocket-.*|x-call-id)$/i;
const MASKED = `must not begin with ${MASK}: send the value itself, or null to keep the stored one`;

/** A connection as sent; its headers and options may have any values. */
export interface ConnectionInput {
  readonly url: string;
  /** Null keeps the stored value. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Null keeps the stored value of a secret option. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The connection that is replaced. */
export interface StoredConnection {
  readonly url: string;
  /** Without secret ones. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly secrets: ConnectionSecrets;
}

/** Checks a connection, and completes it by the stored secrets that it keeps. */
export class ConnectionCheck {
  /** One for each violation; empty if the connection is valid. */
  readonly issues: Issue[] = [];
  /** Without secret ones. */
  readonly options: Record<string, unknown> = {};
  readonly secrets: { readonly headers: Record<string, string>; readonly options: Record<string, unknown> } = {
    headers: {},
    options: {},
  };
  /** What leads elsewhere now, so that stored secrets are not sent there. */
  private readonly moved: string | undefined;

  /** @param stored the connection that `input` replaces */
  constructor(
    input: ConnectionInput,
    private readonly protocol: Pick<ProtocolModule, 'schemes' | 'options'>,
    outbound: OutboundClient,
    private readonly stored: StoredConnection | undefined,
  ) {
    const violation = addressViolation(input.url, protocol.schemes, outbound);
    if (violation !== undefined) this.issues.push(about('url', violation));
    const isSameHost = violation === undefined && stored !== undefined && originOf(stored.url) === originOf(input.url);
    this.moved = isSameHost ? this.movedOption(input.options) : 'scheme, host and port of url stay';
    this.checkHeaders(input.headers);
    for (const [name, value] of Object.entries(input.options)) this.checkOption(name, value);
  }

  private checkHeaders(headers: ConnectionInput['headers']): void {
    const names = Object.keys(headers);
    if (names.length > MAX_HEADERS) {
      this.issues.push(about('headers', `must have at most ${MAX_HEADERS} entries`));
      return;
    }
    const stored = new Map(
      Object.entries(this.stored?.secrets.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const seen = new Set<string>();
    for (const name of names) {
      const lower = name.toLowerCase();
      const kept = stored.get(lower);
      const value = headers[name];
      const violation =
        nameViolation(name) ??
        (seen.has(lower) ? 'must be given once: names are compared without regard to letter case' : undefined) ??
        (value === null ? this.keepingViolation(kept) : valueViolation(value));
      seen.add(lower);
      if (violation !== undefined) this.issues.push(about(`headers.${shownName(name)}`, violation));
      else this.secrets.headers[name] = (value === null ? kept : value) as string;
    }
  }

  private checkOption(name: string, value: unknown): void {
    const issue = (text: string) => this.issues.push(about(`options.${shownName(name)}`, text));
    const option = Object.hasOwn(this.protocol.options, name) ? this.protocol.options[name] : undefined;
    if (!option) {
      return void issue(`is not an option of the protocol${suggestion(name, Object.keys(this.protocol.options))}`);
    }
    if (!option.isSecret) {
      const violation = option.violation(value);
      if (violation === undefined) this.options[name] = value;
      else issue(violation);
      return;
    }
    const kept = this.stored?.secrets.options[name];
    const isMask = typeof value === 'string' && isMasked(value);
    const violation = value === null ? this.keepingViolation(kept) : isMask ? MASKED : option.violation(value);
    if (violation === undefined) this.secrets.options[name] = value === null ? kept : value;
    else issue(violation);
  }

  private movedOption(options: ConnectionInput['options']): string | undefined {
    const name = Object.entries(this.protocol.options).find(
      ([one, { receivesSecrets }]) =>
        receivesSecrets && options[one] !== undefined && options[one] !== this.stored?.options?.[one],
    )?.[0];
    return name && `the option ${name} stays`;
  }

  /** Why a stored secret cannot be kept: it must not be sent to another server than the one that it was given for. */
  private keepingViolation(kept: unknown): string | undefined {
    if (kept === undefined) return 'must not be null: there is no stored value to keep';
    return this.moved && `must be given again: a stored value is kept only while ${this.moved} the same`;
  }
}

function nameViolation(name: string): string | undefined {
  if (!NAME.test(name) || name.length > MAX_NAME) return 'is not the name of a header';
  return RESERVED.test(name) || PROTOCOLS.reservedHeaders.has(name.toLowerCase())
    ? 'must not be set: the service or the protocol sets this header'
    : undefined;
}

function valueViolation(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string, or null to keep the stored value';
  if (isMasked(value)) return MASKED;
  if (codePoints(value) > MAX_VALUE) return `must have at most ${MAX_VALUE} characters`;
  return VALUE.test(value) ? undefined : 'must not contain control characters, or characters beyond U+00FF';
}
