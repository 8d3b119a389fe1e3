import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { DomainError, invalidInput } from '../../errors/domain-error.js';

const DECODERS: ReadonlyMap<string, (() => Transform) | undefined> = new Map([
  ['', undefined],
  ['identity', undefined],
  ['gzip', () => createGunzip()],
  ['deflate', () => createInflate()],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Reads the whole body and decodes its Content-Encoding. Unlike Express's parsers it refuses a body as soon as it is
 * known to be too large, and not only after its last byte; Node reads and drops the rest after the response, so that the
 * client gets the response and not a reset connection.
 * @param limit maximum size in bytes, both as sent and as decoded
 * @param onWanted called before the first byte is waited for
 * @param signal refuses a body that has not arrived when it fires
 * @throws DomainError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE or BAD_REQUEST
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  onWanted: () => void,
  signal?: AbortSignal,
): Promise<Buffer<ArrayBuffer>> {
  const encoding = (request.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (!DECODERS.has(encoding)) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, [
      'Content-Encoding must be gzip, deflate, br or absent',
    ]);
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  onWanted();
  return collect(request, DECODERS.get(encoding)?.(), limit, signal);
}

function collect(
  request: IncomingMessage,
  decoder: Transform | undefined,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const body = new GrowingBuffer();
    let sent = 0;

    const refuse = (error: DomainError) => {
      signal?.removeEventListener('abort', late);
      request.off('data', onSent);
      decoder?.off('data', onDecoded);
      if (decoder) {
        // Unpiping pauses the request. Node drops an unread body after the response, but not a paused one: without
        // `resume` the connection would never read its next request.
        request.unpipe(decoder).resume();
        decoder.destroy();
      }
      reject(error);
    };
    const onSent = (chunk: Buffer) => {
      sent += chunk.length;
      if (sent > limit) refuse(tooLarge(limit));
    };
    const onDecoded = (chunk: Buffer) => {
      if (body.length + chunk.length > limit) refuse(tooLarge(limit));
      else body.append(chunk);
    };
    const accept = () => {
      signal?.removeEventListener('abort', late);
      resolve(body.content);
    };

    // A timer holds its signal, and with the listener the body, until it fires: so the listener is removed before that.
    const late = () => refuse(invalidInput('body took too long to arrive'));
    signal?.addEventListener('abort', late);
    const notInFull = () => refuse(invalidInput('body did not arrive in full'));
    request.on('data', onSent).once('error', notInFull);
    // There is no error event if the client disconnected before the listener was added.
    request.once('close', () => void (request.complete || notInFull()));
    (decoder ?? request).on('data', onDecoded).once('end', accept);
    decoder?.on('error', () => refuse(invalidInput('body cannot be decompressed')));
    if (decoder) request.pipe(decoder);
    if (request.destroyed) notInFull();
  });
}

/** Not a list of chunks: a client may send chunks of one byte, and each takes 400 bytes in a list. */
class GrowingBuffer {
  length = 0;
  private buffer = Buffer.alloc(0);

  append(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (length > this.buffer.length) {
      // Not from Node's pool, so that the memory can be transferred to another thread.
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.length));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    chunk.copy(this.buffer, this.length);
    this.length = length;
  }

  get content(): Buffer<ArrayBuffer> {
    return this.buffer.subarray(0, this.length);
  }
}

const tooLarge = (limit: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', undefined, [`body must be at most ${limit / (1024 * 1024)} MiB`]);
