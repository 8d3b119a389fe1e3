/** The most that a message may have: Core's parser needs time by the square of the length. */
export const MESSAGE_LIMITS = { bytes: 16 * 1024, headers: 64 } as const;

/** A stream that cannot be read further: where the next message begins is unknown. */
export class SipFramingError extends Error {}

/** RFC 5626, 3.5.1: asks for CRLF. */
export const KEEP_ALIVE = '\r\n\r\n';
const END_OF_HEADERS = Buffer.from('\r\n\r\n');

/** Cuts a stream into messages by Content-Length (RFC 3261, 18.3). */
export class SipFraming {
  #pending: Buffer = Buffer.alloc(0);
  #searched = 0;
  #breaks = 0;

  /** Whether a message has begun and is not complete. */
  get partial(): boolean {
    return this.#pending.length > 0 && !(this.#pending.length === 1 && this.#pending[0] === 0x0d);
  }

  /**
   * Complete messages, and `KEEP_ALIVE` for each such request between them.
   *
   * @throws SipFramingError, after the messages before it, for a message over the limits or without a valid Content-Length.
   */
  *push(chunk: Buffer): Generator<string> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      for (let pings = this.#skipLineBreaks(); pings > 0; pings -= 1) yield KEEP_ALIVE;
      const message = this.#next();
      if (message === undefined) return;
      this.#breaks = 0;
      yield message;
    }
  }

  #skipLineBreaks(): number {
    let at = 0;
    let pings = 0;
    while (this.#pending[at] === 0x0d && this.#pending[at + 1] === 0x0a) {
      at += 2;
      this.#breaks += 1;
      if (this.#breaks % 2 === 0) pings += 1;
    }
    if (at > 0) this.#pending = this.#pending.subarray(at);
    return pings;
  }

  #next(): string | undefined {
    const end = this.#pending.indexOf(END_OF_HEADERS, this.#searched);
    if (end < 0) {
      if (this.#pending.length > MESSAGE_LIMITS.bytes) throw new SipFramingError('message over 16 KiB');
      this.#searched = Math.max(0, this.#pending.length - 3);
      return undefined;
    }
    this.#searched = end;
    const total = end + 4 + contentLength(this.#pending.toString('latin1', 0, end));
    if (total > MESSAGE_LIMITS.bytes) throw new SipFramingError('message over 16 KiB');
    if (this.#pending.length < total) return undefined;
    const message = this.#pending.toString('utf8', 0, total);
    this.#pending = this.#pending.subarray(total);
    this.#searched = 0;
    return message;
  }
}

function contentLength(head: string): number {
  const lines = head.split('\r\n');
  if (lines.length - 1 > MESSAGE_LIMITS.headers) throw new SipFramingError('message with more than 64 header lines');
  const lengths = new Set<string>();
  for (const line of lines.slice(1)) {
    const [, value] = /^(?:content-length|l)[ \t]*:(.*)$/i.exec(line) ?? [];
    if (value !== undefined) lengths.add(value.trim());
  }
  const [length = ''] = lengths;
  if (lengths.size !== 1 || !/^\d{1,9}$/.test(length))
    throw new SipFramingError('message without a valid Content-Length');
  return Number(length);
}
