import { type Readable, Writable } from 'node:stream';
import { SetMetadata, type Type } from '@nestjs/common';
import busboy, { type Busboy } from 'busboy';
import type { Request, Response } from 'express';
import { shownName, unknownField } from '../../../../libs/json-input/index.js';
import { DomainError, invalidInput } from '../../errors/domain-error.js';

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
  /** Takes the file, and rejects if it cannot; the stream fails if the file does not arrive in full. */
  readonly receive: (file: Readable) => Promise<void>;
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
 * Reads a form, whose file is passed on as it arrives. Fails only when the file was received or is abandoned. Node reads and
 * drops the rest of a form that was refused.
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or BAD_REQUEST; what `receive` throws
 */
export async function readForm(
  request: Request,
  response: Response,
  options: FormOptions,
  { signal, receive }: ReadForm,
): Promise<FormFields> {
  const parser = parserOf(request, options);
  if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue();
  const intake = intakeOf(parser, maxBytesOf(options));
  const fields: Record<string, string> = {};
  let parts = 0;
  let received: Promise<void> | undefined;
  let file: Readable | undefined;
  let late = () => {};
  const refusal = new Promise<never>((_, reject) => {
    const refuse = (error: Error) => {
      // The parser skips parts that nobody listens to.
      parser.removeAllListeners('file').removeAllListeners('field');
      reject(error);
      file?.destroy(error);
    };
    parser.on('file', (name, stream) => {
      // First, because the parser fails every stream that it has not ended.
      stream.on('error', () => undefined);
      parts++;
      const issue = fileIssue(name, parts, received !== undefined, options);
      if (issue !== undefined) return refuse(invalidInput(issue));
      file = stream;
      stream.once('limit', () => refuse(tooLarge(options)));
      received = receive(stream);
      received.catch(refuse);
    });
    parser.on('field', (name, value, { valueTruncated }) => {
      parts++;
      const issue = fieldIssue(name, parts, valueTruncated, fields, options);
      if (issue !== undefined) refuse(invalidInput(issue));
      else fields[name!] = value;
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      parser.on(limit, () => refuse(invalidInput('body has too many parts')));
    }
    parser.on('error', ({ message }) => {
      const isHeader = message === 'Malformed part header';
      const issue = isHeader ? `has a malformed header in part ${parts + 1}` : INCOMPLETE;
      refuse(invalidInput(`body ${issue}`));
    });
    intake.on('error', refuse);
    const notInFull = () => refuse(invalidInput('body did not arrive in full'));
    request.on('error', notInFull);
    request.once('close', () => void (request.complete || notInFull()));
    late = () => refuse(invalidInput('body took too long to arrive'));
    signal.addEventListener('abort', late, { once: true });
    if (signal.aborted) late();
    if (request.destroyed) notInFull();
  });
  const arrived = new Promise<void>((resolve) => parser.once('close', resolve));
  request.pipe(intake);
  try {
    await Promise.race([arrived, refusal]);
    await Promise.race([received, refusal]);
    return fields;
  } catch (error) {
    // A request that is paused would never read its next request.
    request.unpipe(intake).resume();
    const drain = setTimeout(() => void (request.complete || request.destroy()), DRAIN_MS).unref();
    request.once('close', () => clearTimeout(drain));
    parser.destroy();
    await received?.catch(() => undefined);
    throw error;
  } finally {
    // The signal may fire much later, and would keep the form until then.
    signal.removeEventListener('abort', late);
  }
}

/** Passes a form to its parser. What the parser or one of its listeners throws fails the form, and not the process. */
function intakeOf(parser: Busboy, maxBytes: number): Writable {
  let bytes = 0;
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) return done(bodyTooLarge(maxBytes));
      try {
        parser.write(chunk, () => done());
      } catch (error) {
        done(error as Error);
      }
    },
    final(done) {
      parser.end();
      done();
    },
  });
}

/** @throws DomainError for a request that is refused by its headers */
function parserOf({ headers }: Request, options: FormOptions): Busboy {
  const mediaType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'multipart/form-data') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be sent as multipart/form-data']);
  }
  if ((headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity') {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['Content-Encoding must be absent']);
  }
  const { file, fields } = options;
  const sizes = Object.values(fields);
  const maxBytes = maxBytesOf(options);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  try {
    return busboy({
      headers,
      defParamCharset: 'utf8',
      limits: {
        // The limit is reported when it is reached.
        fileSize: file.maxBytes + 1,
        fieldSize: Math.max(...sizes) + 1,
        headerPairs: 20,
        // One more than there may be, so that it is named.
        files: 2,
        fields: sizes.length + 1,
        parts: sizes.length + 2,
      },
    });
  } catch {
    throw invalidInput('body must name its boundary in Content-Type');
  }
}

/** What is wrong with a part that is a file. @param name undefined if it is missing or empty, like that of a field */
function fileIssue(
  name: string | undefined,
  part: number,
  isGiven: boolean,
  { file, fields }: FormOptions,
): string | undefined {
  if (name === undefined) return nameless(part);
  if (Object.hasOwn(fields, name)) {
    return `${name} must be a text: its part must have no filename and no Content-Type application/octet-stream`;
  }
  if (name !== file.name) return `${shownName(name)} is not known; the file is ${file.name}`;
  return isGiven ? `${name} must be given once` : undefined;
}

function fieldIssue(
  name: string | undefined,
  part: number,
  isTruncated: boolean,
  fields: FormFields,
  { file, fields: known }: FormOptions,
): string | undefined {
  if (name === undefined) return nameless(part);
  if (name === file.name) return `${name} must be a file: its part needs a filename`;
  if (!Object.hasOwn(known, name))
    return `${shownName(name)} ${unknownField(name, [file.name, ...Object.keys(known)])}`;
  if (Object.hasOwn(fields, name)) return `${name} must be given once`;
  return isTruncated ? `${name} must be at most ${known[name]} bytes` : undefined;
}

const INCOMPLETE = 'is not a complete multipart/form-data document';

const nameless = (part: number) => `part ${part} of body must have a name`;

const maxBytesOf = ({ file, fields }: FormOptions): number =>
  Object.values(fields).reduce((sum, size) => sum + size, file.maxBytes + OVERHEAD);

const tooLarge = ({ file: { name, maxBytes } }: FormOptions) =>
  new DomainError('PAYLOAD_TOO_LARGE', undefined, [`${name} must be at most ${maxBytes / (1024 * 1024)} MiB`]);

const bodyTooLarge = (maxBytes: number) =>
  new DomainError('PAYLOAD_TOO_LARGE', undefined, [`body must be at most ${maxBytes} bytes`]);
