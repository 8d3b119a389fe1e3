import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import type { Sound } from '../sound.js';

/**
 * Layout: "SND1", SHA-256 of the rest, length of the header (32 bits, little-endian), header (JSON), samples (16 bits,
 * little-endian).
 */
const MAGIC = Buffer.from('SND1');
const HASH_BYTES = 32;
const HASHED_FROM = MAGIC.length + HASH_BYTES;

export function encodeSound({ pcm, ...header }: Sound): Buffer {
  const headerBytes = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headerBytes.length);
  const content = Buffer.concat([length, headerBytes, littleEndian(pcm)]);
  return Buffer.concat([MAGIC, hashOf(content), content]);
}

/** Undefined if the bytes are not a complete, unchanged sound. */
export function decodeSound(bytes: Buffer): Sound | undefined {
  const content = bytes.subarray(HASHED_FROM);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  if (!bytes.subarray(MAGIC.length, HASHED_FROM).equals(hashOf(content))) return undefined;
  const samplesFrom = 4 + content.readUInt32LE(0);
  const header = JSON.parse(content.toString('utf8', 4, samplesFrom)) as Omit<Sound, 'pcm'>;
  // Copied, because samples must begin at an even address.
  const samples = Buffer.from(new Uint8Array(content.subarray(samplesFrom)).buffer);
  return { ...header, pcm: new Int16Array(swapped(samples).buffer as ArrayBuffer) };
}

const hashOf = (content: Buffer): Buffer => createHash('sha256').update(content).digest();

const littleEndian = (pcm: Int16Array): Buffer => swapped(Buffer.from(pcm.slice().buffer));

const swapped = (samples: Buffer): Buffer => (endianness() === 'BE' ? samples.swap16() : samples);
