import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { DomainError } from '../../errors/domain-error.js';
import { readBody } from './read-body.js';

const LIMIT = 1024;

/** A request as far as a body reader looks at one. */
function requestOf(chunks: readonly Buffer[], headers: Record<string, string> = {}, isWhole = true): IncomingMessage {
  const stream = new PassThrough();
  for (const chunk of chunks) stream.write(chunk);
  if (isWhole) stream.end();
  return Object.assign(stream, { headers, complete: isWhole }) as unknown as IncomingMessage;
}

const read = (request: IncomingMessage) => readBody(request, LIMIT, () => undefined);

async function errorOf(request: IncomingMessage): Promise<[string, readonly string[] | undefined]> {
  const error: unknown = await read(request).catch((thrown: unknown) => thrown);
  if (!(error instanceof DomainError)) throw new Error('The body was taken', { cause: error });
  return [error.code, error.issues];
}

describe('readBody', () => {
  const text = Buffer.from('{"name":"x"}');

  it.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', text],
  ])('undoes %s', async (encoding, bytes) => {
    const body = await read(requestOf([bytes.subarray(0, 5), bytes.subarray(5)], { 'content-encoding': encoding }));
    expect(body.toString()).toBe(text.toString());
  });

  it.each(['zstd', 'gzip, gzip', 'constructor'])('refuses the encoding %s', async (encoding) => {
    expect((await errorOf(requestOf([text], { 'content-encoding': encoding })))[0]).toBe('UNSUPPORTED_MEDIA_TYPE');
  });

  it.each([
    ['what is not compressed', text],
    ['what is cut short', gzipSync(text).subarray(0, 15)],
    ['nothing', Buffer.alloc(0)],
  ])('refuses %s as gzip', async (_what, bytes) => {
    const error = await errorOf(requestOf([bytes], { 'content-encoding': 'gzip' }));
    expect(error).toEqual(['BAD_REQUEST', ['body cannot be decompressed']]);
  });

  it('refuses by Content-Length before it asks for the body', async () => {
    const onWanted = jest.fn();
    const request = requestOf([], { 'content-length': String(LIMIT + 1) }, false);
    await expect(readBody(request, LIMIT, onWanted)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(onWanted).not.toHaveBeenCalled();
  });

  it.each([
    ['as sent, before its end', [Buffer.alloc(LIMIT), Buffer.alloc(1)], {}, false],
    ['as decompressed', [gzipSync(Buffer.alloc(LIMIT + 1))], { 'content-encoding': 'gzip' }, true],
    [
      'as sent, although it decompresses to nothing',
      Array.from({ length: 100 }, () => gzipSync(Buffer.alloc(0))),
      { 'content-encoding': 'gzip' },
      false,
    ],
  ])('refuses a body that is too large %s', async (_how, chunks, headers, isWhole) => {
    expect((await errorOf(requestOf(chunks, headers, isWhole)))[0]).toBe('PAYLOAD_TOO_LARGE');
  });

  it('takes a body of exactly the limit', async () => {
    expect(await read(requestOf([Buffer.alloc(LIMIT)]))).toHaveLength(LIMIT);
  });

  it.each<Record<string, string>>([{}, { 'content-encoding': 'gzip' }])(
    'notices that the client went away: %j',
    async (headers) => {
      const request = requestOf([gzipSync(text).subarray(0, 5)], headers, false);
      const error = errorOf(request);
      request.destroy();
      expect(await error).toEqual(['BAD_REQUEST', ['body did not arrive in full']]);
      // Also when it had gone before the body was asked for.
      expect(await errorOf(request)).toEqual(['BAD_REQUEST', ['body did not arrive in full']]);
    },
  );
});
