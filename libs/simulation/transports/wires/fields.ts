/** An object whose fields must have the type that is asked for. */
export class Fields {
  private readonly values: Readonly<Record<string, unknown>>;

  /** @throws TypeError, as all methods */
  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('Not an object');
    this.values = value as Record<string, unknown>;
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
    const value = Number.parseInt(String(this.values[name]), 10);
    if (Number.isSafeInteger(value)) return value;
    throw new TypeError(`${name} is not a number`);
  }
}

export type Json = Readonly<Record<string, unknown>>;

/** Where a field may have another type, or be missing. */
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Characters of a text of an assistant: more than any agent of ours can have. */
const MAX_LISTED = 256 * 1024;

/** A text of an assistant that is listed. */
export const listedText = (value: unknown): string | null => textOf(value)?.slice(0, MAX_LISTED) ?? null;
