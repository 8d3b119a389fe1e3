import { PERSONAL_DATA_KINDS, type PersonalDataKind } from '../../evaluation-definition/index.js';
import { compact, findIn } from '../checks/personal-data.js';
import type { JsonValue } from '../timeline/text.js';

const NAMES: Readonly<Record<PersonalDataKind, string>> = {
  card: 'card number',
  iban: 'IBAN',
  email: 'e-mail address',
  phone: 'phone number',
};

/** Numbers of JSON that may be a phone number or a card. */
const DIGITS = /^\d{7,19}$/;
/** Milliseconds since 1970 from 2001 to 2286: one in ten passes the check of card numbers (data-privacy-stack/presidio#1607). */
const UNIX_MS = /^1\d{12}$/;

/**
 * Replaces the personal data of one call by placeholders, such as `[phone number 1]`. Equal values have equal numbers, however
 * they are written. What was redacted stays as it is.
 */
export class PersonalDataRedaction {
  private readonly placeholders = new Map<string, string>();
  private readonly counts = new Map<PersonalDataKind, number>();

  /** @param kinds that are replaced; all by default */
  constructor(private readonly kinds: readonly PersonalDataKind[] = PERSONAL_DATA_KINDS) {}

  text(text: string): string {
    let from = 0;
    let clean = '';
    for (const { kind, text: value, at, length } of findIn(text)) {
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

  /** A tool gets a phone number as a number, too; times in milliseconds are none. */
  private number(value: number): JsonValue {
    const digits = String(value);
    return DIGITS.test(digits) && !UNIX_MS.test(digits) && this.text(digits) !== digits ? this.text(digits) : value;
  }

  private placeholder(kind: PersonalDataKind, value: string): string {
    const key = `${kind} ${compact(value)}`;
    const known = this.placeholders.get(key);
    if (known !== undefined) return known;
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    const placeholder = `[${NAMES[kind]} ${count}]`;
    this.placeholders.set(key, placeholder);
    return placeholder;
  }
}
