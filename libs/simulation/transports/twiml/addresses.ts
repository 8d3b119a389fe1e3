/** Where a request goes, and what its signature is computed over. */
export interface DialledAddress {
  readonly url: string;
  readonly signedUrl: string;
}

/**
 * Agents write their public host into TwiML even when they run somewhere else. What is signed is always the public address; what
 * is dialled keeps scheme, host and port of the connection where the address has the host of `publicUrl`.
 */
export class Addresses {
  private readonly dialled: URL;
  private readonly isMapped: boolean;
  private readonly publicBase: URL;

  /**
   * @param url of the connection
   * @param publicUrl the address by which the world knows it; by default the same
   */
  constructor(
    private readonly url: string,
    publicUrl: string | undefined,
  ) {
    this.dialled = new URL(url);
    this.isMapped = publicUrl !== undefined;
    this.publicBase = new URL(publicUrl ?? url);
    this.signedFirst = publicUrl ?? url;
  }

  private readonly signedFirst: string;

  get first(): DialledAddress {
    return { url: this.url, signedUrl: this.signedFirst };
  }

  /** The public address of a webhook on another host: what to set as `publicUrl`. Undefined for its own host. */
  publicUrlAt(stream: string): string | undefined {
    const { protocol, hostname, host } = new URL(stream);
    if (hostname === this.publicBase.hostname) return undefined;
    return `${protocol.replace(/^ws/, 'http')}//${host}${this.dialled.pathname}`;
  }

  /**
   * An address of a document, which may be relative to that document's own (signed) address.
   * @returns undefined if it is none
   */
  resolve(reference: string, base: string): DialledAddress | undefined {
    if (!URL.canParse(reference, base)) return undefined;
    const isAbsolute = URL.canParse(reference);
    // As written: the signature covers every character.
    const signedUrl = isAbsolute ? reference : new URL(reference, base).href;
    return { url: this.dial(new URL(signedUrl)), signedUrl };
  }

  /** The address of a stream; a relative one is a WebSocket address of the same server. */
  resolveStream(reference: string, base: string): DialledAddress | undefined {
    const found = this.resolve(reference, base.replace(/^http/i, 'ws'));
    return found && /^wss?:/i.test(found.signedUrl) ? found : undefined;
  }

  private dial(target: URL): string {
    const isWebSocket = /^wss?:$/.test(target.protocol);
    const isPublicHost = target.hostname === this.publicBase.hostname;
    if (isPublicHost && this.isMapped) {
      const { protocol, host } = this.dialled;
      const scheme = isWebSocket ? protocol.replace(/^http/, 'ws') : protocol.replace(/^ws/, 'http');
      return `${scheme}//${host}${target.pathname}${target.search}`;
    }
    // A webhook without TLS has no certificate for its sockets either.
    const isPlain = isPublicHost && target.protocol === 'wss:' && this.dialled.protocol === 'http:';
    return isPlain ? plainOf(target, this.dialled) : target.href;
  }
}

/** `wss://host/path` of an agent at `http://host:3000` is `ws://host:3000/path`. */
function plainOf(target: URL, { host }: URL): string {
  const authority = target.port === '' ? host : target.host;
  return `ws://${authority}${target.pathname}${target.search}`;
}
