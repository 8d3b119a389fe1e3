import { isObject, type JsonObject } from '../../../json-input/index.js';

/** An object whose fields must have the type that is asked for. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>;

  /** @throws TypeError, as all methods */
  constructor(value: unknown) {
    if (!isObject(value)) throw new TypeError('Not an object');
    this.values = value;
  }

  of(name: string): Fields {
    return new Fields(this.values[name]);
  }

  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null;
  }

  list(name: string): Fields[] {
    const value = this.values[name];
    if (Array.isArray(value)) return value.map((one) => new Fields(one));
    throw new TypeError(`${name} is not a list`);
  }

  raw(name: string): unknown {
    return this.values[name];
  }

  text(name: string, max = Infinity): string {
    const value = this.values[name];
    if (typeof value === 'string' && value.length <= max) return value;
    throw new TypeError(`${name} is not a string`);
  }

  /** Also as digits, as the vendor's clients read it. */
  id(name: string): number {
    const value = numberOf(this.values[name]);
    if (value !== undefined) return value;
    throw new TypeError(`${name} is not a number`);
  }
}

export type Json = JsonObject;

export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** What is said: a text, or a list of texts and of parts that have one. */
export const contentOf = (value: unknown): string =>
  [value]
    .flat()
    .map((part) => textOf(part) ?? textOf(objectOf(part)['text']) ?? '')
    .join('');

export function numberOf(value: unknown): number | undefined {
  const number = Number.parseInt(String(value), 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Arguments of a tool as JSON, which platforms send as text or as an object. */
export function argumentsJson(value: unknown): string {
  if (typeof value === 'string') return value.trim() === '' ? '{}' : value;
  try {
    return JSON.stringify(value ?? {});
  } catch {
    // Such arguments are not readable, and the call counts.
    return 'nested too deeply';
  }
}

/** Reads a message with the reader of its type; never throws. Text that is not JSON at all, such as `ping`, carries nothing. */
export function readTyped<Message>(
  readers: Readonly<Record<string, (message: Fields) => Message>>,
  text: string,
): Message | { readonly type: 'other' | 'invalid'; readonly lacks?: string } {
  try {
    const message = new Fields(JSON.parse(text));
    const type = textOf(message.raw('type'));
    return type === null ? { type: 'other', lacks: 'type' } : (readers[type]?.(message) ?? { type: 'other' });
  } catch {
    return /^\s*[[{]/.test(text) ? { type: 'invalid' } : { type: 'other', lacks: 'the form of JSON' };
  }
}

/** Characters of a text of an assistant: more than any agent of ours can have. */
const MAX_LISTED = 256 * 1024;

/** A text of an assistant that is listed. */
export const listedText = (value: unknown): string | null => textOf(value)?.slice(0, MAX_LISTED) ?? null;

/** A longer text is not the name of a version. */
const MAX_VERSION = 255;

/** The name of an agent's version: a text or a number. */
export function versionText(value: unknown): string | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
  return text === '' || text.length > MAX_VERSION ? null : text;
}
