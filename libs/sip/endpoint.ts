import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  type DigestAuthentication,
  Grammar,
  type IncomingRequestMessage,
  IncomingResponseMessage,
  LoggerFactory,
  type InviteUserAgentServer,
  Parser,
  URI,
  UserAgentCore,
} from 'sip.js/lib/core/index.js';
import { addressText, parseSipAddress, type SipAddress } from './address.js';
import { DigestAnswer, type DigestCredentials, withOneChallenge } from './digest.js';
import { checkParsedLines, guardRequest, isFinalAnswerToInvite, withOwnTarget } from './guard.js';
import { SipLink } from './link.js';
import { original, readable, withExactContact } from './readable.js';
import { strictlyRouted } from './strict-route.js';

/** Opens the connection, by TLS if the address says so. What may be connected to is decided there. */
export type SipConnect = (address: SipAddress) => Promise<Socket>;

export interface EndpointOptions {
  readonly connect: SipConnect;
  /** The platform, trunk or registrar: all requests go there. */
  readonly address: SipAddress;
  /** Answers challenges of this address only. */
  readonly credentials?: DigestCredentials;
  /** The value of User-Agent. */
  readonly userAgent: string;
  /** Each message as it was sent or received. */
  readonly trace?: (direction: 'sent' | 'received', text: string) => void;
}

/** What happens in the connection, apart from transactions. */
export interface EndpointListener {
  /** A response to an INVITE, before Core reads it. */
  inviteResponse?(message: IncomingResponseMessage): void;
  /** A final response to an INVITE that cannot be used. */
  broken?(reason: string, text: string): void;
  closed?(cause: Error | undefined): void;
  /** Before an INVITE is written; the INVITE waits for it, and is not written if it rejects. */
  beforeInvite?(): Promise<void>;
  /** An INVITE outside a dialog. */
  invited?(request: InviteUserAgentServer): void;
}

const CONTACT_WAIT_MS = 2_000;
/** INVITEs in a second; with more of them the connection is closed. */
const MOST_INVITATIONS = 5;
/** Of what a message may have: only then it is read a second time. */
const AGAIN = 0.6;
const QUIET = new LoggerFactory();
QUIET.builtinEnabled = false;

/** One connection with Core on top of it. */
export class SipEndpoint {
  readonly core: UserAgentCore;
  /** The user of our Contact: random, so that only who was given it reaches us. */
  readonly token = randomBytes(9).toString('hex');
  /** A number by which the other side may call us, beside the user of our Contact. */
  alias: string | undefined;
  listener: EndpointListener = {};
  #link!: SipLink;
  #contact: URI;
  #learned: (() => void) | undefined;
  /** A further connection, over which is sent. It gets no credentials. */
  #moved: SipLink | undefined;
  #closed = false;
  #invitations: number[] = [];

  private constructor(readonly options: EndpointOptions) {
    this.#contact = new URI('sip', this.token, 'invalid.invalid');
    const contact = (): URI => this.#contact;
    this.core = new UserAgentCore(
      {
        aor: new URI('sip', this.token, options.address.host),
        contact: {
          pubGruu: undefined,
          tempGruu: undefined,
          get uri() {
            return contact();
          },
          toString: () => `<${contact().toString()}>`,
        },
        displayName: '',
        loggerFactory: QUIET,
        hackViaTcp: false,
        routeSet: [],
        sipjsId: randomBytes(6).toString('hex'),
        supportedOptionTags: [],
        supportedOptionTagsResponse: [],
        userAgentHeaderFieldValue: options.userAgent,
        viaForceRport: true,
        viaHost: 'invalid.invalid',
        authenticationFactory: () => this.#credentials() as DigestAuthentication | undefined,
        transportAccessor: () => ({ protocol: this.#sending.protocol, send: (text) => this.#send(text) }),
      },
      {
        onInvite: (request) => this.#invited(request as InviteUserAgentServer),
      },
    );
  }

  /** @throws Error of `connect`. */
  static async open(options: EndpointOptions): Promise<SipEndpoint> {
    const endpoint = new SipEndpoint(options);
    const socket = await options.connect(options.address);
    endpoint.#link = new SipLink(socket, options.address.transport, {
      message: (text) => endpoint.#receive(text),
      closed: (cause) => endpoint.#ended(cause),
    });
    endpoint.core.configuration.viaHost = endpoint.#link.local;
    endpoint.#setContact(endpoint.#link.local);
    return endpoint;
  }

  get contact(): string {
    return this.core.configuration.contact.toString();
  }

  /** Host and port of our end, as in our Via headers. */
  get via(): string {
    return this.#link.local;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Asks with OPTIONS under which address the other side sees us, so that its BYE reaches us through a NAT. Any answer
   * will do; without one within 2 s the local address stays.
   */
  async learnContact(): Promise<void> {
    const { address } = this.options;
    const target = uriOf(addressText({ ...address, user: undefined }));
    const from = new URI('sip', this.token, address.host);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, CONTACT_WAIT_MS);
      this.#learned = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#closed) return this.#learned();
      this.core.request(this.core.makeOutgoingRequestMessage('OPTIONS', target, from, target, {}));
    });
    this.#learned = undefined;
  }

  /**
   * Sends over a further connection from now on, to the host of this Route or Contact; what arrives on both is read.
   *
   * @throws Error if it cannot be read, or of `connect`.
   */
  async moveTo(nextHop: string): Promise<SipAddress> {
    const sent = original(nextHop);
    const uri = Grammar.nameAddrHeaderParse(sent)?.uri ?? uriOf(sent);
    const secure = uri.scheme === 'sips' || /^tls$/i.test(uri.getParam('transport') ?? this.options.address.transport);
    const origin = `${secure ? 'sips' : 'sip'}:${uri.host}${uri.port === undefined ? '' : `:${uri.port}`}`;
    const address = parseSipAddress(origin);
    const socket = await this.options.connect(address);
    const message = (text: string): void => this.#receive(text);
    this.#moved = new SipLink(socket, address.transport, { message, closed: () => undefined });
    if (this.#closed) this.#moved.close();
    return address;
  }

  close(): void {
    this.core.dispose();
    this.#moved?.close();
    this.#link.close();
  }

  get #sending(): SipLink {
    return this.#moved ?? this.#link;
  }

  #credentials(): unknown {
    const { credentials } = this.options;
    return credentials && this.#moved === undefined ? new DigestAnswer(credentials) : undefined;
  }

  async #send(text: string): Promise<void> {
    if (text.startsWith('INVITE ')) await this.listener.beforeInvite?.();
    const sent = original(strictlyRouted(text));
    this.#sending.send(sent);
    this.options.trace?.('sent', sent);
  }

  /** The one place where bytes of the other side reach Core, which throws on some of them. */
  #receive(text: string): void {
    this.options.trace?.('received', text);
    let message: IncomingRequestMessage | IncomingResponseMessage | undefined;
    try {
      message = readMessage(text);
      if (message === undefined) throw new Error('message that cannot be read');
      if (message instanceof IncomingResponseMessage) this.#receiveResponse(message);
      else if (guardRequest(this.core, message)) {
        this.core.receiveIncomingRequestFromTransport(withOwnTarget(this.core, message, this.alias));
      }
    } catch (error) {
      this.#refuse(text, message, error instanceof Error ? error.message : String(error));
    }
  }

  #receiveResponse(message: IncomingResponseMessage): void {
    this.#learn(message);
    if (message.method === 'INVITE') {
      const fault = answerFault(message);
      if (fault !== undefined) return this.listener.broken?.(fault, message.data);
      this.listener.inviteResponse?.(message);
    }
    this.#takeSecondChallenge(message);
    this.core.receiveIncomingResponseFromTransport(message);
  }

  /** The proxy and the server behind it may both ask who we are; Core takes a second challenge only if the first was stale. */
  #takeSecondChallenge(message: IncomingResponseMessage): void {
    const { statusCode, viaBranch, method } = message;
    const sent = this.core.userAgentClients.get(`${viaBranch}${method}`)?.message;
    const isSecond =
      statusCode === 401
        ? !sent?.getHeader('Authorization') && sent?.getHeader('Proxy-Authorization')
        : statusCode === 407 && !sent?.getHeader('Proxy-Authorization') && sent?.getHeader('Authorization');
    const asked = message.parseHeader(statusCode === 401 ? 'www-authenticate' : 'proxy-authenticate') as
      object | undefined;
    if (isSecond && asked) Object.assign(asked, { stale: true });
  }

  #refuse(text: string, message: IncomingRequestMessage | IncomingResponseMessage | undefined, reason: string): void {
    if (isFinalAnswerToInvite(text))
      this.listener.broken?.(`final response to INVITE that cannot be used: ${reason}`, text);
    if (message === undefined || message instanceof IncomingResponseMessage || message.method === 'ACK') return;
    try {
      this.core.replyStateless(message, { statusCode: 400 });
    } catch {
      // Not even enough was readable for an answer.
    }
  }

  #invited(request: InviteUserAgentServer): void {
    const now = performance.now();
    this.#invitations = this.#invitations.filter((at) => now - at < 1_000).concat(now);
    if (this.#invitations.length > MOST_INVITATIONS) return this.close();
    if (this.listener.invited) this.listener.invited(request);
    else request.reject({ statusCode: 404 });
  }

  /** The address in `received` and `rport` of our Via (RFC 3581), of the first response of any kind. */
  #learn(message: IncomingResponseMessage): void {
    if (this.#learned === undefined) return;
    const via = message.getHeader('via') ?? '';
    const received = /;\s*received\s*=\s*\[?([0-9a-f.:]+)/i.exec(via)?.[1];
    const port = /;\s*rport\s*=\s*(\d{1,5})/i.exec(via)?.[1];
    const [, host = '', localPort = ''] = /^(.*):(\d+)$/.exec(this.#link.local) ?? [];
    const seen = received?.includes(':') ? `[${received}]` : received;
    this.#setContact(`${seen ?? host}:${port ?? localPort}`);
    this.#learned();
  }

  #setContact(hostPort: string): void {
    this.#contact = uriOf(`sip:${this.token}@${hostPort};transport=${this.options.address.transport}`);
  }

  #ended(cause: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#learned?.();
    this.listener.closed?.(cause);
  }
}

/** @throws Error of Core, or if it would need long. */
export function readMessage(text: string): IncomingRequestMessage | IncomingResponseMessage | undefined {
  const known = withOneChallenge(withContentType(text));
  checkParsedLines(known);
  const exact = withExactContact(known);
  const logger = QUIET.getLogger('received');
  const message = Parser.parseMessage(exact, logger);
  const other = message ? exact : readable(exact);
  if (other === exact) return message;
  checkParsedLines(other, AGAIN);
  return Parser.parseMessage(other, logger);
}

/** Core takes no description without its type. */
function withContentType(text: string): string {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
  const isTyped = !body.startsWith('v=0') || /^(?:content-type|c)[ \t]*:/im.test(head);
  return isTyped ? text : `${head}\r\nContent-Type: application/sdp\r\n\r\n${body}`;
}

/** @throws Error if the text is not a SIP URI. */
export function uriOf(text: string): URI {
  const uri = Grammar.URIParse(text);
  if (uri === undefined) throw new Error('address that cannot be read');
  return uri;
}

/** What Core would drop without a word, so that an answered call would look unanswered. */
function answerFault(message: IncomingResponseMessage): string | undefined {
  const status = message.statusCode ?? 0;
  if (status < 200 || status > 299) return undefined;
  if (!message.toTag) return `${status} to INVITE without a To tag`;
  if (!message.parseHeader('contact')) return `${status} to INVITE without a Contact`;
  if (message.getHeaders('via').length > 1) return `${status} to INVITE with more than one Via`;
  return undefined;
}
