import { invalidInput } from '../../errors/domain-error.js';

/** A part of a form. */
export interface Part {
  readonly name: string;
  readonly isFile: boolean;
  /** As it arrives; must be read to its end before the next part. */
  readonly content: AsyncIterable<Buffer>;
}

const MAX_HEADERS = 16 * 1024;
const CRLF = Buffer.from('\r\n');
/** White space is single spaces: these cannot backtrack. */
const HEADER = /^([!#$%&'*+.^_`|~\w-]+): ?(\P{Cc}*)$/u;
const DISPOSITION = /^form-data ?(?:; ?[^\s;="]+ ?= ?(?:"(?:[^"\\]|\\.)*"|[^\s;"]+) ?)*;? ?$/i;
const PARAMETER = /; ?([^\s;="]+) ?= ?(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g;

/**
 * Reads `multipart/form-data` (RFC 7578). Not by a parser that emits events: an error that no listener takes, or that is thrown
 * by one, ends the process.
 */
export class MultipartReader {
  private readonly delimiter: Buffer;
  /** What arrived and was not read. The first delimiter may begin the body. */
  private rest: Buffer = CRLF;

  constructor(
    private readonly chunks: AsyncIterator<Buffer>,
    boundary: string,
  ) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** @throws DomainError BAD_REQUEST; what `chunks` throws */
  async *parts(): AsyncGenerator<Part> {
    const preamble = this.until(this.delimiter);
    while (!(await preamble.next()).done);
    for (let number = 1; ; number++) {
      while (this.rest.length < 2) await this.more();
      const end = this.rest.toString('latin1', 0, 2);
      if (end === '--') break;
      if (end !== '\r\n') throw invalidInput(`body has a malformed boundary before part ${number}`);
      this.rest = this.rest.subarray(2);
      yield { ...(await this.headers(number)), content: this.content() };
    }
    while (!(await this.chunks.next()).done);
  }

  private async headers(number: number): Promise<Pick<Part, 'name' | 'isFile'>> {
    const headers: [name: string, value: string][] = [];
    let left = MAX_HEADERS;
    for (;;) {
      let line = '';
      for await (const block of this.until(CRLF)) {
        left -= block.length;
        if (left < 0) throw invalidInput(`body has headers of more than 16 KiB in part ${number}`);
        line += block.toString('latin1');
      }
      if (line === '') break;
      line = Buffer.from(line, 'latin1')
        .toString()
        .replace(/[\t ]+/g, ' ');
      const last = headers.at(-1);
      const header = HEADER.exec(line);
      if (header) headers.push([header[1]!.toLowerCase(), header[2]!]);
      else if (last && line.startsWith(' ')) last[1] += line;
      else throw invalidInput(`body has a malformed header in part ${number}`);
    }
    const valueOf = (name: string) => headers.find(([each]) => each === name)?.[1] ?? '';
    const disposition = valueOf('content-disposition');
    const found = DISPOSITION.test(disposition) ? [...disposition.matchAll(PARAMETER)] : [];
    const parameters = new Map(
      found.map(([, name, quoted, token]) => [name!.toLowerCase(), token ?? quoted!.replace(/\\(.)/g, '$1')]),
    );
    const name = parameters.get('name');
    // Which one of two names counts depends on the reader.
    if (!name || parameters.size < found.length) {
      throw invalidInput(`part ${number} of body must have a Content-Disposition such as form-data; name="channels"`);
    }
    const isFile = parameters.has('filename') || parameters.has('filename*');
    return { name, isFile: isFile || /^application\/octet-stream\b/i.test(valueOf('content-type')) };
  }

  private async *content(): AsyncGenerator<Buffer> {
    // The empty line after the headers may begin the delimiter: a part without content.
    this.rest = Buffer.concat([CRLF, this.rest]);
    while (this.rest.length < this.delimiter.length) await this.more();
    if (this.rest.indexOf(this.delimiter) !== 0) this.rest = this.rest.subarray(CRLF.length);
    yield* this.until(this.delimiter);
  }

  /** What is before the needle, as it arrives; reads the needle, too. */
  private async *until(needle: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.rest.indexOf(needle);
      // The last bytes may begin the needle.
      const end = at >= 0 ? at : Math.max(0, this.rest.length - needle.length + 1);
      const before = this.rest.subarray(0, end);
      this.rest = this.rest.subarray(at >= 0 ? at + needle.length : end);
      if (end > 0) yield before;
      if (at >= 0) return;
      await this.more();
    }
  }

  private async more(): Promise<void> {
    const next = await this.chunks.next();
    if (next.done) throw invalidInput('body is not a complete multipart/form-data document');
    this.rest = Buffer.concat([this.rest, next.value]);
  }
}
