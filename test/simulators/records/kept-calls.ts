import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A call in the records of a platform, as no vendor writes it; times in milliseconds, those of the parts from its start. */
export interface KeptCall {
  readonly id: string;
  readonly agent: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Null while it goes on. */
  readonly endedAt: number | null;
  readonly lines: readonly KeptLine[];
  readonly tools?: readonly KeptTool[];
  readonly reason?: string;
  readonly callerNumber?: string;
  /** The attempt of which it is, as the vendor returns what the call was created with. */
  readonly attempt?: string;
  /** Of its turns. */
  readonly latencies?: readonly number[];
  /** What the file of its recording has. Null: it is not recorded; absent: its file is not there yet. */
  readonly sound?: Uint8Array | null;
  /** In place of fields of the vendor's record. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

export interface KeptLine {
  readonly speaker: 'agent' | 'caller';
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface KeptTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
  readonly result: string;
  readonly startMs: number;
}

/** How a platform misbehaves, which can be changed while it runs. */
export interface RecordFaults {
  /** Answers to the next requests about records, one each. */
  refusals?: { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }[];
  /** The list says of each page that there are more, with calls that it had before. */
  isEndless?: boolean;
  /** The list has each call twice, and entries without an id. */
  hasDuplicates?: boolean;
  /** Requests for a recording that are answered before it is there. */
  soundAfter?: number;
  /** Where recordings are, in place of here. */
  soundAt?: string;
  /** Records and recordings are compressed, to a thousandth. */
  isCompressed?: boolean;
  /** Readings of a record that lack all but its first line. */
  growsAfter?: number;
}

const BOMB_BYTES = 64 * 1024 * 1024;

/** The calls that a platform keeps, and the short-lived addresses of their recordings, which need no key. */
export class KeptCalls {
  readonly all = new Map<string, KeptCall>();
  readonly faults: RecordFaults = {};
  /** Headers of requests for recordings. */
  readonly downloads: IncomingHttpHeaders[] = [];
  /** When requests about records came, by `performance.now`. */
  readonly askedAt: number[] = [];
  private readonly addresses = new Map<string, KeptCall>();
  private readonly readings = new Map<string, number>();

  keep(...calls: readonly KeptCall[]): void {
    for (const call of calls) this.all.set(call.id, call);
  }

  /** The calls of an agent, in the order of their starts. */
  of(agent: unknown): KeptCall[] {
    return [...this.all.values()].filter((one) => one.agent === agent).sort((a, b) => a.startedAt - b.startedAt);
  }

  /** A call as its record has it now. */
  read(id: string): KeptCall | undefined {
    const call = this.all.get(id);
    const before = this.readings.get(id) ?? 0;
    this.readings.set(id, before + 1);
    return call && before < (this.faults.growsAfter ?? 0) ? { ...call, lines: call.lines.slice(0, 1) } : call;
  }

  /** A new address of the recording; undefined if it is not yet there. */
  address({ id, sound }: KeptCall, base: string): string | undefined {
    const { soundAfter = 0, soundAt } = this.faults;
    if (sound === undefined || sound === null) return undefined;
    if (soundAfter > 0) {
      this.faults.soundAfter = soundAfter - 1;
      return undefined;
    }
    if (soundAt !== undefined) return soundAt;
    const path = `/recordings/${id}-${randomBytes(12).toString('hex')}.wav`;
    this.addresses.set(path, this.all.get(id)!);
    return `${base}${path}`;
  }

  /** Answers requests for recordings. @returns false for other ones */
  serve(pathname: string, headers: IncomingHttpHeaders, response: ServerResponse): boolean {
    if (!pathname.startsWith('/recordings/')) return false;
    this.downloads.push(headers);
    const call = this.addresses.get(pathname);
    if (!call) response.writeHead(403, { 'content-type': 'application/xml' }).end('<Error>AccessDenied</Error>');
    else if (this.faults.isCompressed) this.bomb(response, 'audio/wav');
    else response.writeHead(200, { 'content-type': 'audio/wav' }).end(call.sound);
    return true;
  }

  /** Answers a request about records by a fault. @returns false without one */
  misbehaves(response: ServerResponse): boolean {
    this.askedAt.push(performance.now());
    const refusal = this.faults.refusals?.shift();
    if (refusal) {
      const { status, body = '{"message":"refused"}', headers = {} } = refusal;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    } else if (this.faults.isCompressed) this.bomb(response, 'application/json');
    return refusal !== undefined || this.faults.isCompressed === true;
  }

  /** Entries of a list, with those that do not belong there. */
  entries<Entry extends object>(entries: readonly Entry[]): object[] {
    return this.faults.hasDuplicates
      ? [...entries.flatMap((one) => [one, one]), { status: 'ended' }, {}]
      : [...entries];
  }

  private bomb(response: ServerResponse, type: string): void {
    const bytes = gzipSync(Buffer.alloc(BOMB_BYTES, ' '));
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(bytes);
  }
}
