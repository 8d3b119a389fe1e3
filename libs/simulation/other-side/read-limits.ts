import { StructureCounter, structureOf } from '../../json-input/index.js';

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
    return found <= structure ? undefined : tooMuchStructure(`${name} has`, found, structure);
  }
}

/** Structural characters in the arguments of all tools of a call: they reach the main thread as objects. */
const MAX_ARGUMENTS = 100_000;

/** Counts the arguments of the tools of a call. They are JSON in strings, where `ReadCount` finds no structure. */
export class ArgumentsCount {
  private found = 0;

  /** @returns as `ReadCount.push` */
  push(json: string): string | undefined {
    this.found += structureOf(json);
    return this.found <= MAX_ARGUMENTS ? undefined : tooMuchStructure('its tool calls have', this.found, MAX_ARGUMENTS);
  }
}

const tooMuchStructure = (who: string, found: number, allowed: number): string =>
  `${who} ${found.toLocaleString('en')} structural characters or more, where ${allowed.toLocaleString('en')} are allowed`;
