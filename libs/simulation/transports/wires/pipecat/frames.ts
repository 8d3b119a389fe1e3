/** Members of Pipecat's `Frame` by their numbers, as `frames.proto` has them. */
const MEMBERS = { 1: 'text', 2: 'audio', 3: 'transcription', 4: 'message', 5: 'interruption' } as const;
/** Numbers of fields that are read of a member; later ones are passed over. */
const LAST_FIELD = 6;

type Value = number | Uint8Array;

/** One WebSocket message. `unknown`: of a version that has more members. */
export type PipecatFrame =
  | { readonly type: 'audio'; readonly bytes: Uint8Array; readonly rate: number; readonly channels: number }
  | { readonly type: 'message'; readonly json: string }
  | { readonly type: 'text' | 'transcription' | 'interruption' | 'unknown' | 'invalid' };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a message; never throws. Of a member that comes twice the fields are merged, of two members the last one counts. */
export function readFrame(bytes: Uint8Array): PipecatFrame {
  let member = 0;
  let fields: Value[] = [];
  try {
    forEachField(bytes, (number, value) => {
      if (typeof value === 'number') return;
      if (number !== member) fields = [];
      member = number;
      if (number in MEMBERS) forEachField(value, (field, of) => field <= LAST_FIELD && (fields[field] = of));
    });
    const type = MEMBERS[member as keyof typeof MEMBERS] ?? 'unknown';
    const bytesOf = (field: number) => (fields[field] instanceof Uint8Array ? fields[field] : new Uint8Array());
    const numberOf = (field: number) => (typeof fields[field] === 'number' ? fields[field] : 0);
    if (type === 'message') return { type, json: utf8.decode(bytesOf(1)) };
    return type === 'audio' ? { type, bytes: bytesOf(3), rate: numberOf(4), channels: numberOf(5) } : { type };
  } catch {
    return { type: 'invalid' };
  }
}

/** The fields of a message in the encoding of protobuf; numbers have their low 32 bits. @throws RangeError */
function forEachField(bytes: Uint8Array, take: (number: number, value: Value) => void): void {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new RangeError('A number is cut off or too long');
  };
  const part = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new RangeError('A field is cut off');
    return bytes.subarray(at, (at += length));
  };
  while (at < bytes.length) {
    const tag = varint();
    const [number, kind] = [tag >>> 3, tag & 7];
    if (number === 0) throw new RangeError('No field has the number 0');
    if (kind === 0) take(number, varint());
    else if (kind === 2) take(number, part(varint()));
    else if (kind === 1 || kind === 5) part(kind === 1 ? 8 : 4);
    // Groups: no version of the format has them.
    else throw new RangeError(`A field has the kind ${kind}`);
  }
}

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 128))];
const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
const NAME = field(2, Buffer.from('audio'));

/** 16-bit PCM of one channel, with the name that the vendor's client gives it. */
export const audioFrame = (pcm: Uint8Array, rate: number): Buffer =>
  field(2, Buffer.concat([NAME, field(3, pcm), Buffer.from([4 << 3, ...varint(rate), 5 << 3, 1])]));

export const messageFrame = (json: string): Buffer => field(4, field(1, Buffer.from(json)));
