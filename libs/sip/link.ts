import type { Socket } from 'node:net';
import type { SipTransport } from './address.js';
import { SipFraming, SipFramingError } from './framing.js';

const PARTIAL_MESSAGE_MS = 10_000;
const KEEP_ALIVE_MS = 25_000;

export interface LinkHandlers {
  message(text: string): void;
  /** Once. With an error if the other side broke the protocol or the connection failed. */
  closed(cause: Error | undefined): void;
}

/** A TCP or TLS connection that carries SIP messages both ways. */
export class SipLink {
  readonly protocol: string;
  readonly #framing = new SipFraming();
  readonly #keepAlive: NodeJS.Timeout;
  #partial: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly socket: Socket,
    transport: SipTransport,
    private readonly handlers: LinkHandlers,
  ) {
    this.protocol = transport.toUpperCase();
    this.#keepAlive = setInterval(() => this.#write('\r\n\r\n'), KEEP_ALIVE_MS).unref();
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#close(error));
    socket.on('close', () => this.#close(undefined));
    socket.on('end', () => this.#close(undefined));
  }

  /** Host and port of this end, as in a Via header. */
  get local(): string {
    const { localAddress = '127.0.0.1', localPort = 0 } = this.socket;
    return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** @throws Error if the connection has ended. */
  send(text: string): void {
    if (this.#closed) throw new Error('The connection has ended');
    this.#write(text);
  }

  /** Sends what is waiting, then closes. */
  close(): void {
    this.socket.end();
    this.#close(undefined);
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      const { messages, pings } = this.#framing.push(chunk);
      for (const message of messages) if (!this.#closed) this.handlers.message(message);
      if (pings > 0) this.#write('\r\n');
      if (messages.length > 0) this.#stopWatching();
    } catch (error) {
      if (!(error instanceof SipFramingError)) throw error;
      this.socket.destroy();
      return this.#close(error);
    }
    this.#watchPartial();
  }

  #watchPartial(): void {
    if (!this.#framing.partial) this.#stopWatching();
    // Bytes that trickle in do not extend the time.
    else this.#partial ??= setTimeout(() => this.#incomplete(), PARTIAL_MESSAGE_MS).unref();
  }

  #stopWatching(): void {
    clearTimeout(this.#partial);
    this.#partial = undefined;
  }

  #incomplete(): void {
    this.socket.destroy();
    this.#close(new SipFramingError('message that was not complete within 10 s'));
  }

  #write(text: string): void {
    if (!this.#closed && this.socket.writable) this.socket.write(text);
  }

  #close(cause: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#keepAlive);
    clearTimeout(this.#partial);
    this.handlers.closed(cause);
  }
}
