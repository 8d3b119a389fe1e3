import { StructureCounter } from '../../json-input/index.js';

const MIB = 1024 * 1024;

export interface ReadLimit {
  /** How failures name it. */
  readonly name: string;
  readonly bytes: number;
  /** Structural characters of JSON (`StructureCounter`): a million of them take 50 ms to parse. */
  readonly structure: number;
}

/** What is read at once of what agents and platforms send. The only place of these numbers. */
export const READ_LIMITS = {
  /** Of a WebSocket: ten minutes of audio in base64, with the times of each character that is said in it. */
  message: { name: 'one message', bytes: 8 * MIB, structure: 100_000 },
  /** Of a text agent, in one turn: JSON, or all events of a stream. */
  answer: { name: 'one answer', bytes: 4 * MIB, structure: 600_000 },
  /** Of one call or some: 60,000 words with their times. */
  record: { name: 'one record', bytes: 16 * MIB, structure: 1_000_000 },
  /** 1,000 assistants with prompts of 31 kB each. */
  list: { name: 'one list', bytes: 40 * MIB, structure: 2_000_000 },
} as const satisfies Record<string, ReadLimit>;

/** Counts one message, answer, record or list against its limit, as its bytes arrive in parts of any length. */
export class ReadCount {
  private bytes = 0;
  private readonly structure = new StructureCounter();

  constructor(private readonly limit: ReadLimit) {}

  /** @returns what is exceeded, for a failure `answer_too_large`; undefined: nothing */
  push(part: Uint8Array): string | undefined {
    const { name, bytes, structure } = this.limit;
    this.bytes += part.length;
    if (this.bytes > bytes) return `${name} is larger than ${bytes / MIB} MiB`;
    const found = this.structure.push(part);
    if (found <= structure) return undefined;
    return `${name} has ${found.toLocaleString('en')} structural characters or more, where ${structure.toLocaleString('en')} are allowed`;
  }
}
