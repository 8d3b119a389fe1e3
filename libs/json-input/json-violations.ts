import type { Path, Violation } from './paths.js';
import { textViolation } from './text.js';

/** Limited because libraries that process the value are recursive; tool arguments are the most deeply nested fields. */
const MAX_DEPTH = 32;

/** Names with a special meaning in JavaScript: libraries that copy objects mishandle them. */
const RESERVED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

export interface JsonLimits {
  /** Maximum number of values, without the root. */
  readonly maxValues: number;
  /** Maximum number of entries of one object or list; unlimited by default. */
  readonly maxEntries?: number;
  /** The walk stops once it has found this many violations. */
  readonly maxViolations: number;
  /** Leaves infinite numbers to the field's own validation. */
  readonly ignoreNumbers?: boolean;
}

/**
 * Limits the total size of several values. YAML writes a value once and repeats it by reference, so a small file can
 * expand into a huge one.
 */
export class SizeBudget {
  constructor(private left: number) {}

  /** @throws SizeExceeded */
  spend(size: number): void {
    this.left -= size;
    if (this.left < 0) throw new SizeExceeded();
  }
}

export class SizeExceeded extends Error {
  override readonly name = 'SizeExceeded';
}

/**
 * Finds, without recursion, what can neither be stored nor safely passed on in a parsed value: reserved names, U+0000
 * and unpaired surrogates, numbers that JSON does not support, too many values, too deep nesting.
 * @param budget spent by the characters and values that are visited
 * @returns the violations, and whether the walk stopped before the end of the value
 * @throws SizeExceeded
 */
export function findJsonViolations(
  root: unknown,
  limits: JsonLimits,
  budget?: SizeBudget,
): { violations: Violation[]; stopped: boolean } {
  const violations: Violation[] = [];
  const add = (path: Path, text: string) => void violations.push({ path, text });
  const pending: Entry[] = [{ value: root, path: [] }];
  let values = 0;
  for (let entry = pending.pop(); entry; entry = pending.pop()) {
    const { value, path } = entry;
    budget?.spend(typeof value === 'string' ? value.length + 1 : 1);
    if (typeof value === 'string') {
      const text = textViolation(value);
      if (text) add(path, text);
    } else if (typeof value === 'number') {
      if (!limits.ignoreNumbers && !Number.isFinite(value)) add(path, 'must be a number that JSON can hold');
    } else if (typeof value === 'object' && value !== null) {
      const size = Array.isArray(value) ? value.length : Object.keys(value).length;
      values += size;
      // Checked first, because there may be too many entries to list.
      const excess = excessOf(path, size, values, limits);
      if (excess) return { violations: [...violations, excess], stopped: true };
      pending.push(...entriesOf(value, path, add).reverse());
    }
    if (violations.length >= limits.maxViolations) return { violations, stopped: true };
  }
  return { violations, stopped: false };
}

interface Entry {
  readonly value: unknown;
  readonly path: Path;
}

function excessOf(
  path: Path,
  size: number,
  values: number,
  { maxValues, maxEntries = Infinity }: JsonLimits,
): Violation | undefined {
  if (path.length >= MAX_DEPTH) return { path, text: `must not be nested deeper than ${MAX_DEPTH} levels` };
  if (size > maxEntries) return { path, text: `must have at most ${maxEntries} entries` };
  return values > maxValues ? { path: [], text: `must hold at most ${maxValues} values` } : undefined;
}

function entriesOf(node: object, path: Path, add: (path: Path, text: string) => void): Entry[] {
  if (Array.isArray(node)) return node.map((value: unknown, index) => ({ value, path: [...path, index] }));
  return Object.entries(node).flatMap(([name, value]: [string, unknown]) => {
    const here = [...path, name];
    const nameViolation = textViolation(name);
    if (RESERVED.has(name)) add(here, 'is not a known field');
    else if (nameViolation) add(here, `${nameViolation} in its name`);
    else return [{ value, path: here }];
    return [];
  });
}
