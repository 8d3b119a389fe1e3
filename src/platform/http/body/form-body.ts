import { PassThrough } from 'node:stream';
import { MIMEType } from 'node:util';
import { SetMetadata, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { shownName, unknownField } from '../../../../libs/json-input/index.js';
import { DomainError, invalidInput } from '../../errors/domain-error.js';
import { MultipartReader, type Part } from './multipart.js';
import { sendContinue } from './text-body.js';
import { decodeUtf8 } from './utf8.js';

export const FORM_BODY = 'http:form-body';

export interface FormOptions {
  /** The one file, which is never in memory as a whole. */
  readonly file: { readonly name: string; readonly maxBytes: number };
  /** Maximum size in bytes of each other field. */
  readonly fields: Readonly<Record<string, number>>;
  /** Decides when the form is read and where its file goes. */
  readonly gate: Type<FormGate>;
}

/** The fields of a form that were given, without its file. */
export type FormFields = Readonly<Record<string, string>>;

export interface ReadForm {
  /** Refuses a form that has not arrived when it fires. */
  readonly signal: AbortSignal;
  /** Takes all of the file, and rejects if it cannot; the file throws if it does not arrive in full. */
  readonly receive: (file: AsyncIterable<Buffer>) => Promise<void>;
}

/** A request whose form was not read yet. */
export interface GatedForm<T> {
  readonly request: Request;
  readonly read: (options: ReadForm) => Promise<FormFields>;
  /** Runs the handler with what `@FileBody()` returns. */
  readonly handle: (body: unknown) => Promise<T>;
  /** Fires when the client disconnects. */
  readonly closed: AbortSignal;
}

/** Authorises a request with a form before its body is read, and takes its file. */
export interface FormGate {
  pass<T>(form: GatedForm<T>): Promise<T>;
}

/** The route takes `multipart/form-data` with one file. */
export const TakesForm = (options: FormOptions) => SetMetadata(FORM_BODY, options);

/** How long the rest of a form is read that was refused. */
const DRAIN_MS = 30_000;

/** Room for the parts' headers and boundaries. */
const OVERHEAD = 64 * 1024;

/**
 * Reads a form, whose file is passed on as it arrives. Node reads and drops the rest of a form that was refused.
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or BAD_REQUEST; what `receive` throws
 */
export async function readForm(
  request: Request,
  response: Response,
  options: FormOptions,
  { signal, receive }: ReadForm,
): Promise<FormFields> {
  const boundary = boundaryOf(request, options);
  sendContinue(request, response);
  // Not the request itself, which must live on for the response.
  const body = new PassThrough().on('error', () => undefined);
  const fail = (issue: string) => body.destroy(invalidInput(`body ${issue}`));
  const notInFull = () => void fail('did not arrive in full');
  const late = () => void fail('took too long to arrive');
  request.on('error', notInFull).once('close', () => void (request.complete || notInFull()));
  if (request.destroyed) notInFull();
  signal.addEventListener('abort', late, { once: true });
  if (signal.aborted) late();
  request.pipe(body);
  try {
    const reader = new MultipartReader(limited(body, maxBytesOf(options)), boundary);
    return await fieldsOf(reader.parts(), options, receive);
  } catch (error) {
    const drain = setTimeout(() => void (request.complete || request.destroy()), DRAIN_MS).unref();
    request.once('close', () => clearTimeout(drain));
    throw error;
  } finally {
    // A request that is paused would never read its next request.
    request.unpipe(body).resume();
    body.destroy();
    // The signal may fire much later, and would keep the form until then.
    signal.removeEventListener('abort', late);
  }
}

/** @throws DomainError for a request that is refused by its headers */
function boundaryOf({ headers }: Request, options: FormOptions): string {
  const type = typeOf(headers['content-type']);
  if (type?.essence !== 'multipart/form-data') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be sent as multipart/form-data']);
  }
  if ((headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['Content-Encoding must be absent']);
  }
  const maxBytes = maxBytesOf(options);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge('body', maxBytes);
  const boundary = type.params.get('boundary');
  if (!boundary) throw invalidInput('body must name its boundary in Content-Type');
  return boundary;
}

/** @returns undefined for none, such as one that ends with a non-breaking space */
function typeOf(contentType = ''): MIMEType | undefined {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}

async function fieldsOf(
  parts: AsyncIterable<Part>,
  options: FormOptions,
  receive: ReadForm['receive'],
): Promise<FormFields> {
  const { file, fields: known } = options;
  const given = new Map<string, string | undefined>();
  for await (const { name, isFile, content } of parts) {
    const issue = partIssue(name, isFile, options);
    if (issue !== undefined) throw invalidInput(`${shownName(name)} ${issue}`);
    if (given.has(name)) throw invalidInput(`${name} must be given once`);
    given.set(name, undefined);
    if (isFile) await receive(limited(content, file.maxBytes, name));
    else given.set(name, await textOf(limited(content, known[name]!, name), name));
  }
  given.delete(file.name);
  return Object.fromEntries(given) as FormFields;
}

function partIssue(name: string, isFile: boolean, { file, fields }: FormOptions): string | undefined {
  if (name === file.name) return isFile ? undefined : 'must be a file: its part needs a filename';
  if (!Object.hasOwn(fields, name)) {
    return isFile ? `is not known; the file is ${file.name}` : unknownField(name, [file.name, ...Object.keys(fields)]);
  }
  return isFile ? 'must be a text: its part must have no filename' : undefined;
}

async function textOf(content: AsyncIterable<Buffer>, name: string): Promise<string> {
  const blocks: Buffer[] = [];
  for await (const block of content) blocks.push(block);
  return decodeUtf8(Buffer.concat(blocks), name);
}

/** @throws DomainError PAYLOAD_TOO_LARGE at the first byte over the limit */
async function* limited(blocks: AsyncIterable<Buffer>, maxBytes: number, name = 'body'): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const block of blocks) {
    bytes += block.length;
    if (bytes > maxBytes) throw tooLarge(name, maxBytes);
    yield block;
  }
}

const maxBytesOf = ({ file, fields }: FormOptions): number =>
  Object.values(fields).reduce((sum, size) => sum + size, file.maxBytes + OVERHEAD);

const MIB = 1024 * 1024;

const tooLarge = (name: string, maxBytes: number) => {
  const size = maxBytes % MIB === 0 ? `${maxBytes / MIB} MiB` : `${maxBytes} bytes`;
  return new DomainError('PAYLOAD_TOO_LARGE', undefined, [`${name} must be at most ${size}`]);
};
