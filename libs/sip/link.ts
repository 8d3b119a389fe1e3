import type { Socket } from 'node:net';
import type { SipTransport } from './address.js';
import { KEEP_ALIVE, SipFraming, SipFramingError } from './framing.js';

/** Milliseconds: how long a message may take to arrive, how often CRLF CRLF is sent, and how long a close may take. */
const LINK_TIMES = { partialMessage: 10_000, keepAlive: 25_000, closing: 5_000 };

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
    private readonly times = LINK_TIMES,
  ) {
    this.protocol = transport.toUpperCase();
    this.#keepAlive = setInterval(() => this.#write(KEEP_ALIVE), times.keepAlive).unref();
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

  /** Sends what is waiting, then closes, also if the other side does not. */
  close(): void {
    this.socket.end();
    setTimeout(() => this.socket.destroy(), this.times.closing).unref();
    this.#close(undefined);
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    try {
      for (const message of this.#framing.push(chunk)) {
        if (this.#closed) return;
        if (message === KEEP_ALIVE) this.#write('\r\n');
        else this.handlers.message(message);
        this.#stopWatching();
      }
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
    else this.#partial ??= setTimeout(() => this.#incomplete(), this.times.partialMessage).unref();
  }

  #stopWatching(): void {
    clearTimeout(this.#partial);
    this.#partial = undefined;
  }

  #incomplete(): void {
    this.socket.destroy();
    this.#close(new SipFramingError('message that was not complete in time'));
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
