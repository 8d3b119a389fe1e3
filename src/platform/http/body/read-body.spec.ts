import { getEventListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { DomainError } from '../../errors/domain-error.js';
import { readBody } from './read-body.js';

const LIMIT = 1024;

/** A stand-in for a request with the members that readBody uses. */
function requestOf(chunks: readonly Buffer[], headers: Record<string, string> = {}, isWhole = true): IncomingMessage {
  const stream = new PassThrough();
  for (const chunk of chunks) stream.write(chunk);
  if (isWhole) stream.end();
  return Object.assign(stream, { headers, complete: isWhole }) as unknown as IncomingMessage;
}

const read = (request: IncomingMessage) => readBody(request, LIMIT, () => undefined);

async function errorOf(request: IncomingMessage): Promise<[string, readonly string[] | undefined]> {
  const error: unknown = await read(request).catch((thrown: unknown) => thrown);
  if (!(error instanceof DomainError)) throw new Error('The body was accepted', { cause: error });
  return [error.code, error.issues?.map(({ message }) => message)];
}

/** After a collection, so that the figure does not depend on when the engine collects. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('readBody', () => {
  const text = Buffer.from('{"name":"x"}');

  it.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', text],
  ])('decodes %s', async (encoding, bytes) => {
    const body = await read(requestOf([bytes.subarray(0, 5), bytes.subarray(5)], { 'content-encoding': encoding }));
    expect(body.toString()).toBe(text.toString());
  });

  it.each(['zstd', 'gzip, gzip', 'constructor'])('rejects the encoding %s', async (encoding) => {
    expect((await errorOf(requestOf([text], { 'content-encoding': encoding })))[0]).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  it.each([
    ['an uncompressed body', text],
    ['a truncated body', gzipSync(text).subarray(0, 15)],
    ['an empty body', Buffer.alloc(0)],
  ])('rejects %s as gzip', async (_what, bytes) => {
    const error = await errorOf(requestOf([bytes], { 'content-encoding': 'gzip' }));
    expect(error).toEqual(['BAD_REQUEST', ['body cannot be decompressed']]);
  });

  it('takes little memory for chunks of one byte', async () => {
    const [size, mebibyte] = [1_000_000, 1024 * 1024];
    let largest = 0;
    const chunks = function* () {
      const before = usedHeap();
      for (let sent = 1; sent <= size; sent++) {
        yield Buffer.from('a');
        if (sent % 100_000 === 0) largest = Math.max(largest, usedHeap() - before);
      }
    };
    const request = Object.assign(Readable.from(chunks()), { headers: {}, complete: true });
    const body = await readBody(request as unknown as IncomingMessage, size, () => undefined);
    expect(body.equals(Buffer.alloc(size, 'a'))).toBe(true);
    expect(largest / mebibyte).toBeLessThan(20);
  });

  it.each([
    ['read', requestOf([text]), LIMIT],
    ['refused', requestOf([text]), 1],
  ])('does not hold a body that was %s until its signal fires', async (_outcome, request, limit) => {
    const { signal } = new AbortController();
    await readBody(request, limit, () => undefined, signal).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects a Content-Length over the limit before reading the body', async () => {
    const onWanted = jest.fn();
    const request = requestOf([], { 'content-length': String(LIMIT + 1) }, false);
    await expect(readBody(request, LIMIT, onWanted)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(onWanted).not.toHaveBeenCalled();
  });

  it.each([
    ['as sent, before it is complete', [Buffer.alloc(LIMIT), Buffer.alloc(1)], {}, false],
    ['as decompressed', [gzipSync(Buffer.alloc(LIMIT + 1))], { 'content-encoding': 'gzip' }, true],
    [
      'as sent, although it decompresses to nothing',
      Array.from({ length: 100 }, () => gzipSync(Buffer.alloc(0))),
      { 'content-encoding': 'gzip' },
      false,
    ],
  ])('rejects a body that is too large %s', async (_how, chunks, headers, isWhole) => {
    expect((await errorOf(requestOf(chunks, headers, isWhole)))[0]).toBe('PAYLOAD_TOO_LARGE');
  });

  it('accepts a body of exactly the limit', async () => {
    expect(await read(requestOf([Buffer.alloc(LIMIT)]))).toHaveLength(LIMIT);
  });

  it.each<Record<string, string>>([{}, { 'content-encoding': 'gzip' }])(
    'rejects a body that arrives too slowly, with headers %j',
    async (headers) => {
      const request = requestOf([gzipSync(text).subarray(0, 5)], headers, false);
      const late = readBody(request, LIMIT, () => undefined, AbortSignal.timeout(50));
      await expect(late).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        issues: [{ message: 'body took too long to arrive' }],
      });
    },
  );

  it.each<Record<string, string>>([{}, { 'content-encoding': 'gzip' }])(
    'rejects if the client disconnects, with headers %j',
    async (headers) => {
      const request = requestOf([gzipSync(text).subarray(0, 5)], headers, false);
      const error = errorOf(request);
      request.destroy();
      expect(await error).toEqual(['BAD_REQUEST', ['body did not arrive in full']]);
      // Also if it disconnected before the body was read.
      expect(await errorOf(request)).toEqual(['BAD_REQUEST', ['body did not arrive in full']]);
    },
  );
});
