import type { AudioFormat } from './format.js';
import { decodeAlawSample, decodeMulawSample, encodeAlawSample, encodeMulawSample } from './g711.js';

type Block = Uint8Array | Int16Array;

interface Storage {
  readonly bytesPerSample: number;
  readonly block: () => Block;
  readonly encode: (sample: number) => number;
  readonly decode: (stored: number) => number;
}

/** Samples of a block: a second of the telephone. */
const BLOCK = 8_000;

const codes = { bytesPerSample: 1, block: (): Block => new Uint8Array(BLOCK) };
const same = (sample: number): number => sample;

const STORAGES: Readonly<Record<AudioFormat['encoding'], Storage>> = {
  mulaw: { ...codes, encode: encodeMulawSample, decode: decodeMulawSample },
  alaw: { ...codes, encode: encodeAlawSample, decode: decodeAlawSample },
  pcm16: { bytesPerSample: 2, block: (): Block => new Int16Array(BLOCK), encode: same, decode: same },
};

/** Queue of samples, stored in blocks as codes of the wire and decoded on reading. */
export class SampleQueue {
  private readonly storage: Storage;
  private blocks: Block[] = [];
  /** Index of the first sample in the first block. */
  private first = 0;
  private count = 0;

  /** @param encoding must represent the samples exactly */
  constructor(encoding: AudioFormat['encoding']) {
    this.storage = STORAGES[encoding];
  }

  get length(): number {
    return this.count;
  }

  /** Memory use in bytes. */
  get bytes(): number {
    return this.blocks.length * BLOCK * this.storage.bytesPerSample;
  }

  push(pcm: Int16Array): void {
    const { encode, block } = this.storage;
    for (let at = 0; at < pcm.length;) {
      const end = this.first + this.count;
      if (end === this.blocks.length * BLOCK) this.blocks.push(block());
      const target = this.blocks.at(-1)!;
      const from = end % BLOCK;
      const length = Math.min(pcm.length - at, BLOCK - from);
      for (let n = 0; n < length; n++) target[from + n] = encode(pcm[at + n]!);
      this.count += length;
      at += length;
    }
  }

  /** @param position 0 is the first sample in the queue */
  at(position: number): number {
    const place = this.first + position;
    return this.storage.decode(this.blocks[Math.floor(place / BLOCK)]![place % BLOCK]!);
  }

  /** Takes as many samples as `target` holds. */
  shift(target: Int16Array): void {
    const { decode } = this.storage;
    for (let n = 0; n < target.length; n++) {
      target[n] = decode(this.blocks[0]![this.first]!);
      this.count--;
      if (++this.first < BLOCK) continue;
      this.blocks.shift();
      this.first = 0;
    }
    if (this.count === 0) this.clear();
  }

  /** Keeps only the samples in these spans. @param spans in order; `to` is exclusive */
  keep(spans: readonly { readonly from: number; readonly to: number }[]): void {
    const { blocks, first } = this;
    const last = spans.at(-1)?.to ?? 0;
    if (spans.length <= 1 && (spans[0]?.from ?? 0) === 0) return this.truncate(last);
    this.clear();
    for (const { from, to } of spans) {
      for (let at = from; at < to;) {
        const start = (first + at) % BLOCK;
        const length = Math.min(to - at, BLOCK - start);
        this.append(blocks[Math.floor((first + at) / BLOCK)]!.subarray(start, start + length));
        at += length;
      }
    }
  }

  private truncate(length: number): void {
    if (length === 0) return this.clear();
    this.count = length;
    this.blocks.length = Math.ceil((this.first + length) / BLOCK);
  }

  /** Appends stored samples. */
  private append(stored: Block): void {
    for (let at = 0; at < stored.length;) {
      if (this.count === this.blocks.length * BLOCK) this.blocks.push(this.storage.block());
      const from = this.count % BLOCK;
      const part = stored.subarray(at, at + BLOCK - from);
      this.blocks.at(-1)!.set(part, from);
      this.count += part.length;
      at += part.length;
    }
  }

  private clear(): void {
    this.blocks = [];
    this.first = 0;
    this.count = 0;
  }
}
