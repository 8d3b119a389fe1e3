import { RE2JS } from 're2js';
import { LIMITS } from './limits.js';

/** A compiled regular expression; matching takes linear time for every pattern. */
export interface Pattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/** Largest compiled program, in instructions: matching costs up to this many steps per character. */
const MAX_PROGRAM_SIZE = 2_000;
/** Maximum estimated size: compiling `(…){1000}` costs memory before its size is known. */
const MAX_ESTIMATE = 1_000;
/** Cost of building the table of a Unicode class, in instructions. */
const UNICODE_CLASS_COST = 20;
/** Cost of folding the case of a wide range (about 3 ms), in instructions. */
const FOLDED_RANGE_COST = 300;
const WIDE_RANGE = 1_000;

/**
 * Compiles an RE2 regular expression.
 * @throws PatternError with a sentence that says what is wrong with it
 */
export function compilePattern(source: string): Pattern {
  if (source.length > 2 * LIMITS.pattern || estimate(source) > MAX_ESTIMATE) throw new PatternError(TOO_LARGE);
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    throw new PatternError(`must be an RE2 regular expression: ${reason(error)}`, { cause: error });
  }
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw new PatternError(TOO_LARGE);
  return { test: (text) => compiled.matcher(text).find() };
}

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const TOO_LARGE = 'must be a smaller regular expression: it is too long, or repeats too much';

/** Validates patterns: each distinct pattern once, with a limit for all of them together. */
export class PatternChecker {
  private readonly known = new Map<string, string | undefined>();
  private spent = 0;

  /** @param budget instructions to compile in all; about 10 µs each */
  constructor(private readonly budget = 1_000_000) {}

  /** What is wrong with the pattern, as the end of a sentence, or undefined. */
  violationOf(source: string): string | undefined {
    if (this.known.has(source)) return this.known.get(source);
    this.spent += Math.min(estimate(source), MAX_ESTIMATE);
    const violation =
      this.spent > this.budget
        ? 'exceeds the size limit for all patterns together: send fewer at once'
        : validate(source);
    this.known.set(source, violation);
    return violation;
  }
}

function validate(source: string): string | undefined {
  try {
    // A pattern that matches the empty text matches every text.
    return compilePattern(source).test('')
      ? 'must not match the empty text, because it would match every text'
      : undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

/** The library's error message, shortened. */
function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const plain = message.replace(/^error parsing regexp: /, '').replaceAll('`', '"');
  return plain.length > 120 ? `${plain.slice(0, 120)}…` : plain;
}

interface Group {
  size: number;
  /** Size of the last atom, which a quantifier after it repeats. */
  last: number;
}

/** About how many instructions a pattern compiles to, found without compiling it: one per atom, times its repetition. */
function estimate(source: string): number {
  const folds = /\(\?[A-Za-z]*i/.test(source);
  const unicodeClass = folds ? FOLDED_RANGE_COST : UNICODE_CLASS_COST;
  const open: Group[] = [];
  let group: Group = { size: 0, last: 0 };
  const add = (size: number) => {
    group.size += size;
    group.last = size;
  };
  const token =
    /\\Q[^]*?(?:\\E|$)|\\[pP](?:\{[^}]*\}?|.)?|\\[^]|\[\^?\]?(?:\\[^]|\[:\w+:\]|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|[^]/gu;
  for (const [text, least, most] of source.matchAll(token)) {
    if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0)) + (most === '' ? 1 : 0);
      group.size += group.last * Math.max(times - 1, 0);
      group.last *= Math.max(times, 1);
    } else if (text === '(') {
      open.push(group);
      group = { size: 0, last: 0 };
    } else if (text === ')') {
      const size = group.size + 2;
      group = open.pop() ?? { size: 0, last: 0 };
      add(size);
    } else if (/^\\[pP]/.test(text)) add(unicodeClass);
    else if (text.startsWith('[')) {
      const ranges = folds ? wideRanges(text) * FOLDED_RANGE_COST : 0;
      add((/\\[pP]/.test(text) ? unicodeClass : 1) + ranges);
    } else if (text.startsWith('\\Q')) add(text.length);
    else if (/^[*+?|]$/.test(text)) group.size += 1;
    else add(1);
  }
  return open.reduce((size, outer) => size + outer.size, group.size);
}

/** How many ranges of a bracket class are wide, counting those whose ends cannot be read here. */
function wideRanges(bracket: string): number {
  const end = (text: string): number => {
    if (!text.startsWith('\\')) return text.codePointAt(0) ?? 0;
    return text.startsWith('\\x{') ? Number.parseInt(text.slice(3), 16) : NaN;
  };
  const ranges = bracket.matchAll(/(\\x\{[0-9a-fA-F]+\}|\\[^]|[^\\])-(\\x\{[0-9a-fA-F]+\}|\\[^]|[^\]\\])/gu);
  return [...ranges].filter(([, from = '', to = '']) => !(end(to) - end(from) <= WIDE_RANGE)).length;
}
