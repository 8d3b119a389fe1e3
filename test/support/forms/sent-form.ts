import { RawConnection, type WireResponse } from '../hostile/wire.js';

/** A form as it is sent. */
export interface SentForm {
  readonly name: string;
  /** What is written one after the other. */
  readonly writes: readonly Buffer[];
  /** How the length is stated: bytes of Content-Length, or in chunks. */
  readonly length: number | 'chunked';
  readonly boundary: string;
  /** Whether the client disconnects after the last write. */
  readonly isAborted?: boolean;
}

/** Where forms are sent to. */
export interface FormTarget {
  readonly url: string;
  readonly path: string;
  readonly key: string;
}

const PAUSE_MS = 3;

/**
 * Sends a form over a connection of its own, and a second request over the same connection after it.
 * @returns the response to the form, and the status of the second one if the connection is still open; undefined for an aborted form
 */
export async function sendForm(
  { url, path, key }: FormTarget,
  { writes, length, boundary, isAborted = false }: SentForm,
): Promise<{ readonly response: WireResponse | undefined; readonly next: number | undefined } | undefined> {
  const connection = await RawConnection.open(url);
  try {
    const stated = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
    const common = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
    connection.send(`POST ${path} HTTP/1.1\r\n${common}${type}\r\n${stated}\r\n\r\n`);
    for (const [index, bytes] of writes.entries()) {
      if (index > 0) await pause();
      if (length !== 'chunked') connection.send(bytes);
      else if (bytes.length > 0) {
        connection.send(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
      }
    }
    if (isAborted) {
      await pause();
      return undefined;
    }
    if (length === 'chunked') connection.send('0\r\n\r\n');
    const sent = writes.reduce((sum, bytes) => sum + bytes.length, 0);
    const isShort = length !== 'chunked' && sent < length;
    // A client that stated too much waits for nothing: it ends its side.
    if (isShort) connection.socket.end();
    const response = await connection.nextResponse({ timeoutMs: 30_000 });
    if (isShort || !response) return { response, next: undefined };
    connection.send(`GET /agents HTTP/1.1\r\n${common}\r\n`);
    return { response, next: (await connection.nextResponse({ timeoutMs: 30_000 }))?.status };
  } finally {
    connection.close();
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
