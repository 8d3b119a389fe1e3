/** The part of the package that is used; it has no types of its own. */
declare module 'busboy' {
  import type { IncomingHttpHeaders } from 'node:http';
  import type { Readable, Writable } from 'node:stream';

  interface FieldInfo {
    readonly nameTruncated: boolean;
    readonly valueTruncated: boolean;
  }

  export interface Busboy extends Writable {
    on(event: 'file', listener: (name: string, stream: Readable) => void): this;
    on(event: 'field', listener: (name: string, value: string, info: FieldInfo) => void): this;
    once(event: 'filesLimit' | 'fieldsLimit' | 'partsLimit' | 'close', listener: () => void): this;
    once(event: 'error', listener: (error: Error) => void): this;
  }

  interface BusboyOptions {
    readonly headers: IncomingHttpHeaders;
    readonly defParamCharset?: string;
    readonly limits?: Readonly<Record<string, number>>;
  }

  /** @throws Error for headers without a boundary */
  export default function busboy(options: BusboyOptions): Busboy;
}
