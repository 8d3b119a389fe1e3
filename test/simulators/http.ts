import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Rejects a request, with the fields of an OpenAI API error. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    readonly status: number,
    message: string,
    readonly param: string | null = null,
    readonly code: string | null = null,
  ) {
    super(message);
  }

  get body() {
    const type = this.status >= 500 ? 'server_error' : 'invalid_request_error';
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
}

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

/** The JSON object that a body has. @throws RequestError */
export function readObject(body: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new RequestError(400, 'The body must be valid JSON', null, 'invalid_json');
  }
  return objectOf(value, null);
}

/** @param param its path, null for the body @throws RequestError */
export function objectOf(value: unknown, param: string | null): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new RequestError(400, `${param ?? 'The body'} must be an object`, param);
}

/** Refuses an upgrade. @param reason why, as plain text */
export function refuse(socket: Duplex, status: string, reason = ''): void {
  const head = `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(reason)}`;
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${head}\r\n\r\n${reason}`);
}
