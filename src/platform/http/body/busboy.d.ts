/** The part of the package that is used; it has no types of its own. */
declare module 'busboy' {
  import type { IncomingHttpHeaders } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface FieldInfo {
    readonly valueTruncated: boolean;
  }

  export interface Busboy extends Writable {
    /** A part without a name, or with an empty one, has none. */
    on(event: 'file', listener: (name: string | undefined, stream: Readable) => void): this;
    on(event: 'field', listener: (name: string | undefined, value: string, info: FieldInfo) => void): this;
    on(event: 'filesLimit' | 'fieldsLimit' | 'partsLimit', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
  }

  interface BusboyOptions {
    readonly headers: IncomingHttpHeaders;
    readonly defParamCharset?: string;
    readonly limits?: Readonly<Record<string, number>>;
  }

  /** @throws Error for headers without a boundary */
  export default function busboy(options: BusboyOptions): Busboy;
}
