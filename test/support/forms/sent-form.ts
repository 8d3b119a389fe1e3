import { RawConnection, type WireResponse } from '../hostile/wire.js';

/** A form as it is sent. */
export interface SentForm {
  readonly name: string;
  /** What is written one after the other. */
  readonly writes: readonly Buffer[];
  /** How the length is stated: as Content-Length, in chunks, or not at all. */
  readonly length: number | 'chunked' | 'absent';
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

export interface FormExchange {
  /** Absent if the client disconnected, or the service closed the connection before all bytes arrived that were stated. */
  readonly response?: WireResponse;
  /** Status of a second request over the same connection; absent if that is closed, or the bytes of the form do not end where stated. */
  readonly next?: number;
}

const PAUSE_MS = 3;
const TIMEOUT = { timeoutMs: 20_000 };

/** Sends a form over a connection of its own, and a second request after it. */
export async function sendForm(
  { url, path, key }: FormTarget,
  { writes, length, boundary, isAborted = false }: SentForm,
): Promise<FormExchange> {
  const connection = await RawConnection.open(url);
  const send = async (bytes: string | Buffer) => {
    connection.send(bytes);
    const { socket } = connection;
    if (socket.writableNeedDrain) {
      await new Promise<void>((resolve) => {
        const go = () => {
          socket.off('drain', go).off('close', go);
          resolve();
        };
        socket.once('drain', go).once('close', go);
      });
    }
  };
  try {
    const stated = { chunked: 'Transfer-Encoding: chunked', absent: 'X-Length: none' }[String(length)];
    const type = `Content-Type: multipart/form-data; boundary=${boundary}`;
    const common = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
    await send(`POST ${path} HTTP/1.1\r\n${common}${type}\r\n${stated ?? `Content-Length: ${length}`}\r\n\r\n`);
    for (const [index, bytes] of writes.entries()) {
      if (index > 0 && writes.length < 10) await pause();
      if (bytes.length === 0 || connection.socket.destroyed) continue;
      if (length === 'chunked') connection.send(`${bytes.length.toString(16)}\r\n`);
      await send(bytes);
      if (length === 'chunked') connection.send('\r\n');
    }
    if (isAborted) {
      await pause();
      return {};
    }
    if (length === 'chunked') connection.send('0\r\n\r\n');
    const sent = writes.reduce((sum, bytes) => sum + bytes.length, 0);
    // A client that stated too much ends its side.
    if (typeof length === 'number' && sent < length) connection.socket.end();
    const response = await connection.nextResponse(TIMEOUT);
    if (!response || (length !== 'chunked' && sent !== length)) return { ...(response && { response }) };
    connection.send(`GET /agents HTTP/1.1\r\n${common}\r\n`);
    const next = await connection.nextResponse(TIMEOUT);
    return { response, ...(next && { next: next.status }) };
  } finally {
    connection.close();
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
