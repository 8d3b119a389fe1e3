import { PERSONAL_DATA_KINDS, type PersonalDataKind } from '../../evaluation-definition/index.js';
import { compact, findIn, type PersonalDatum } from '../checks/personal-data.js';
import type { Evidence } from '../timeline/evidence.js';
import { type JsonValue, truncate } from '../timeline/text.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import type { TimelineEntry } from '../timeline/timeline.js';
import { type Line, type NumbersAcross, numbersAcross, partsIn } from './numbers-across-lines.js';

const NAMES: Readonly<Record<PersonalDataKind, string>> = {
  card: 'card number',
  iban: 'IBAN',
  email: 'e-mail address',
  phone: 'phone number',
};

/** Numbers of JSON that may be a phone number or a card. */
const DIGITS = /^\d{7,19}$/;
/** The same in a text of JSON, in which a colon may precede them. Looks back from digits only: from each space takes quadratic time. */
const DIGITS_OF_JSON = /(?=\d{7})(?<=[:[,]\s*)(\d{7,19})(?:\.0+)?(?=\s*[,}\]])/g;
/** Shorter parts of numbers are redacted only where they were said. */
const SHORTEST_PART = 3;

/**
 * Replaces the personal data of one call by placeholders, such as `[phone number 1]`. Equal values have equal numbers, however
 * they are written. What was redacted stays as it is.
 */
export class PersonalDataRedaction {
  private readonly numbers = new Map<string, number>();
  private readonly counts = new Map<PersonalDataKind, number>();
  /** Numbers that were said in several lines, by each of their parts that is long enough to be told from other digits. */
  private readonly parts = new Map<string, PersonalDatum>();

  /**
   * @param kinds that are replaced; all by default
   * @param write what stands for the nth value of a kind, `original` as it is written here
   */
  constructor(
    private readonly kinds: readonly PersonalDataKind[] = PERSONAL_DATA_KINDS,
    private readonly write = (name: string, n: number, _original: string): string => `[${name} ${n}]`,
  ) {}

  text(text: string): string {
    const known = (number: string, digits: string) => {
      const clean = this.number(Number(digits), digits);
      // A number of many digits would lose the last of them.
      return typeof clean === 'number' ? number : JSON.stringify(clean);
    };
    return this.words(text.replace(DIGITS_OF_JSON, known));
  }

  /** The lines of a call in their order, also with numbers that were said in several of them. */
  lines<T extends Line>(lines: readonly T[]): T[] {
    const across = completed(this.across(lines));
    return lines.map((line, index) => ({ ...line, text: this.line(line.text, across.get(index)) }));
  }

  private line(text: string, parts: readonly PersonalDatum[] | undefined): string {
    return parts ? this.words(text, parts) : this.text(text);
  }

  private *across(lines: readonly Line[]): Generator<undefined, NumbersAcross> {
    const across = yield* numbersAcross(lines);
    for (const [index, parts] of across) {
      for (const datum of parts) {
        const part = lines[index]!.text.slice(datum.at, datum.at + datum.length);
        if (part.length >= SHORTEST_PART) this.parts.set(part, datum);
      }
    }
    return across;
  }

  /** The timeline of a call. Times stay numbers. @throws what `yieldToEventLoop` throws */
  async entries(
    entries: readonly TimelineEntry[],
    yieldToEventLoop: YieldToEventLoop,
  ): Promise<readonly TimelineEntry[]> {
    const redacted: TimelineEntry[] = [];
    const speech = entries.filter((entry) => entry.type === 'speech');
    const search = this.across(speech);
    let step = search.next();
    for (; !step.done; step = search.next()) await yieldToEventLoop();
    const across = step.value;
    const parts = new Map(speech.map((entry, index) => [entry as TimelineEntry, across.get(index)]));
    for (const entry of entries) {
      redacted.push(this.entry(entry, parts.get(entry)));
      await yieldToEventLoop();
    }
    return redacted;
  }

  private entry(entry: TimelineEntry, parts: readonly PersonalDatum[] | undefined): TimelineEntry {
    if (entry.type === 'tool_call') {
      const { arguments: args, result, ...call } = entry;
      const given = { arguments: this.value(args), ...(result !== undefined && { result: this.value(result) }) };
      return { ...this.texts(call), ...given };
    }
    const clean = this.texts(entry);
    if (clean.type !== 'speech' || entry.type !== 'speech') return clean;
    const text = this.line(entry.text, parts);
    if (text === entry.text) return clean;
    // Positions in the words as they were said.
    const { uncertain: _, ...speech } = clean;
    return { ...speech, text };
  }

  /**
   * What was found in a call. Names are those of the evaluation; numbers are positions and figures.
   * @param entries of the call, redacted
   */
  findings<T>(value: T, entries: readonly TimelineEntry[]): T {
    return this.walk(value, (found) => {
      const { entry, quote } = found as Partial<Evidence>;
      const words = entry === undefined ? undefined : entries[entry];
      // A quote that was cut may have the beginning of a number.
      const isCut = words?.type === 'speech' && quote?.endsWith('…');
      return isCut ? { quote: truncate(words.text, quote!.length) } : {};
    }) as T;
  }

  private texts<T>(value: T): T {
    return this.walk(value, () => ({})) as T;
  }

  /** @param replaced fields of an object that are not redacted like others */
  private walk(value: unknown, replaced: (value: object) => object): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((each: unknown) => this.walk(each, replaced));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value as Readonly<Record<string, unknown>>);
    const entries = fields.map(([key, each]) => [key, key === 'name' ? each : this.walk(each, replaced)] as const);
    return { ...(Object.fromEntries(entries) as object), ...replaced(value) };
  }

  private words(text: string, parts: readonly PersonalDatum[] = partsIn(text, this.parts)): string {
    let from = 0;
    let clean = '';
    const found = [...parts, ...findIn(text)].sort((a, b) => a.at - b.at);
    for (const { kind, text: value, at, length } of found) {
      if (!this.kinds.includes(kind) || at < from) continue;
      clean += text.slice(from, at) + this.placeholder(kind, value);
      from = at + length;
    }
    return clean + text.slice(from);
  }

  /** The same for all texts and names in a value, and for numbers in it that are one of these. */
  value<T>(value: T): T {
    return this.json(value as JsonValue) as T;
  }

  private json(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.number(value);
    if (Array.isArray(value)) return value.map((each) => this.json(each as JsonValue));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value as Readonly<Record<string, JsonValue>>);
    return Object.fromEntries(entries.map(([name, each]) => [this.text(name), this.json(each)]));
  }

  /** A tool gets a phone number as a number, too. */
  private number(value: number, digits = String(value)): JsonValue {
    if (!DIGITS.test(digits)) return value;
    const clean = this.words(digits);
    return clean === digits ? value : clean;
  }

  private placeholder(kind: PersonalDataKind, value: string): string {
    const key = `${kind} ${compact(value)}`;
    const number = this.numbers.get(key) ?? (this.counts.get(kind) ?? 0) + 1;
    if (!this.numbers.has(key)) this.counts.set(kind, number);
    this.numbers.set(key, number);
    return this.write(NAMES[kind], number, value);
  }
}

function completed<T>(work: Generator<undefined, T>): T {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}
