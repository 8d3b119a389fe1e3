import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from './completion-request.js';

const MAX_BODY = 1024 * 1024;

export function answer(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

/** @throws RequestError when the body is too large or compressed */
export async function readBody(request: IncomingMessage): Promise<string> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new RequestError(415, 'The body must not be compressed', null, 'unsupported_encoding');
  }
  const tooLarge = () => new RequestError(413, `The body must have at most ${MAX_BODY} bytes`, null, 'body_too_large');
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A segment of a path without its percent-encoding, or as it is if that is invalid. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
