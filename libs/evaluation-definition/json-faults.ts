import type { Path, Violation as Fault } from './paths.js';

/** No evaluation nests deeper than the arguments of a tool do; the libraries behind it recurse. */
const MAX_DEPTH = 32;
/** Most entries of one object or list: beyond it, what is wrong inside is not listed one by one. */
const MAX_ENTRIES = 1_000;

/** Most values of one evaluation: the largest that the schema allows has some 60,000. */
const MAX_VALUES = 100_000;
/** With so many faults, nobody needs the others. */
const MAX_FAULTS = 1_000;

/** Names that JavaScript gives a meaning of their own: libraries that copy objects stumble over them. */
const RESERVED: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

/**
 * How much may be looked at in all. YAML writes a value once and repeats it by reference, so a small file can stand for
 * a vast one.
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
 * Everything in a parsed value that can neither be stored nor be handed on safely: reserved names, U+0000 and unpaired
 * surrogates, numbers that JSON does not have, too many entries, too deep nesting.
 * @returns the faults, and whether the value is too unwieldy to be looked at further
 * @throws SizeExceeded
 */
export function jsonFaults(value: unknown, budget: SizeBudget): { faults: Fault[]; unwieldy: boolean } {
  const faults: Fault[] = [];
  const fault = (path: Path, text: string) => void faults.push({ path, text });
  const open: { value: unknown; path: Path }[] = [{ value, path: [] }];
  let count = 0;
  for (let item = open.pop(); item; item = open.pop()) {
    const { value: node, path } = item;
    budget.spend(typeof node === 'string' ? node.length + 1 : 1);
    // From here on a value may be endless: it is judged by this alone.
    const excess = excessOf(node, path, (count += 1));
    if (excess !== undefined) return { faults: [...faults, excess], unwieldy: true };
    if (faults.length >= MAX_FAULTS) return { faults, unwieldy: true };
    if (typeof node === 'string') {
      const text = textFault(node);
      if (text) fault(path, text);
    } else if (typeof node === 'number') {
      if (!Number.isFinite(node)) fault(path, 'must be a number that JSON can hold');
    } else if (typeof node === 'object' && node !== null) {
      open.push(...entries(node, path, fault).reverse());
    }
  }
  return { faults, unwieldy: false };
}

function excessOf(node: unknown, path: Path, count: number): Fault | undefined {
  if (count > MAX_VALUES) return { path: [], text: `must have at most ${MAX_VALUES} values in all` };
  if (typeof node !== 'object' || node === null) return undefined;
  if (path.length >= MAX_DEPTH) return { path, text: `must not be nested deeper than ${MAX_DEPTH} levels` };
  const size = Array.isArray(node) ? node.length : Object.keys(node).length;
  return size > MAX_ENTRIES ? { path, text: `must have at most ${MAX_ENTRIES} entries` } : undefined;
}

function entries(node: object, path: Path, fault: (path: Path, text: string) => void) {
  if (Array.isArray(node)) return node.map((value: unknown, index) => ({ value, path: [...path, index] }));
  return Object.keys(node).flatMap((name) => {
    const here = [...path, name];
    if (RESERVED.has(name)) return fault(here, 'is not a known field') ?? [];
    const text = textFault(name);
    if (text) return fault(here, `${text} in its name`) ?? [];
    return [{ value: (node as Record<string, unknown>)[name], path: here }];
  });
}

function textFault(text: string): string | undefined {
  if (text.includes('\u0000')) return 'must not contain the character U+0000';
  if (!text.isWellFormed()) return 'must not contain an unpaired surrogate';
  return undefined;
}
