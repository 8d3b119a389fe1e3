import { RE2JS } from 're2js';
import { LIMITS } from '../definition/limits.js';
import { instead, patternTrap } from './pattern-traps.js';

/** A compiled regular expression; matching takes linear time for every pattern. */
export interface Pattern {
  /** Instructions of the compiled program: the steps per character of a search, at worst. */
  readonly size: number;
  /** Whether it matches anywhere in the text. */
  readonly test: (text: string) => boolean;
  /** Start and end of the first match at or after a position. */
  readonly find: (text: string, from?: number) => readonly [number, number] | undefined;
  /** Text of a named group in the first match at or after a position. */
  readonly group: (text: string, name: string, from?: number) => string | undefined;
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
    throw new PatternError(`must be an RE2 regular expression: ${reason(error)}${instead(source)}`, { cause: error });
  }
  const size = compiled.programSize();
  if (size > MAX_PROGRAM_SIZE) throw new PatternError(TOO_LARGE);
  return {
    size,
    test: (text) => compiled.matcher(text).find(),
    find: (text, from = 0) => {
      const matcher = compiled.matcher(text);
      return matcher.find(from) ? [matcher.start(), matcher.end()] : undefined;
    },
    group: (text, name, from = 0) => {
      const matcher = compiled.matcher(text);
      return matcher.find(from) ? (matcher.group(name) ?? undefined) : undefined;
    },
  };
}

/** Names of the groups of a pattern, found without compiling it. */
export const groupNames = (source: string): string[] =>
  [...source.matchAll(/\\[^]|\(\?P?<([A-Za-z_]\w*)>/g)].flatMap(([, name]) => (name === undefined ? [] : [name]));

export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const TOO_LARGE = 'must be a smaller regular expression: it is too long, or repeats too much';

/**
 * Limit of the time to compile the patterns of one evaluation, in microseconds: requests compile them in the thread that
 * serves all others, and calls in the thread that measures other calls.
 */
export const EVALUATION_BUDGET = 100_000;
/** The same for the evaluations of one file, which is read in a thread of its own. */
export const FILE_BUDGET = 10_000_000;

/** Validates patterns: each distinct pattern once, with a limit for all of them together. */
export class PatternChecker {
  private readonly known = new Map<string, Inspected>();
  private spent = 0;

  /**
   * @param budget limit of the estimated time to compile all patterns, in microseconds
   * @param file the checker of the file that contains the evaluation of this one
   */
  constructor(
    private readonly budget = EVALUATION_BUDGET,
    private readonly file?: PatternChecker,
  ) {}

  /**
   * What is wrong with the pattern, as the end of a sentence, or undefined.
   * @param ofData whether it is for values rather than for what is said: it may match the empty text, and with it every text
   */
  violationOf(source: string, ofData = false): string | undefined {
    const { fault, matchesEmpty } = this.inspect(source);
    if (fault !== undefined || ofData) return fault;
    const matchesAll = 'must not match the empty text, because it would match every text';
    return matchesEmpty ? matchesAll : patternTrap(source);
  }

  private inspect(source: string): Inspected {
    const known = this.known.get(source);
    if (known) return known;
    // Even the estimate takes time.
    if (this.spent <= this.budget) this.spent += compileTime(source);
    if (this.spent > this.budget) {
      const fault = this.file
        ? 'exceeds the size limit for all patterns of an evaluation: use fewer or simpler patterns'
        : 'exceeds the size limit for all patterns together: send fewer at once';
      return { fault, matchesEmpty: false };
    }
    const inspected = this.file ? this.file.inspect(source) : inspect(source);
    this.known.set(source, inspected);
    return inspected;
  }
}

interface Inspected {
  readonly fault?: string;
  readonly matchesEmpty: boolean;
}

function inspect(source: string): Inspected {
  try {
    return { matchesEmpty: compilePattern(source).test('') };
  } catch (error) {
    if (error instanceof PatternError) return { fault: error.message, matchesEmpty: false };
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
  const isFolded = folds(source);
  const unicodeClass = isFolded ? FOLDED_RANGE_COST : UNICODE_CLASS_COST;
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
      const ranges = isFolded ? wideRanges(text) * FOLDED_RANGE_COST : 0;
      add((/\\[pP]/.test(text) ? unicodeClass : 1) + ranges);
    } else if (text.startsWith('\\Q')) add(text.length);
    else if (/^[*+?|]$/.test(text)) group.size += 1;
    else add(1);
  }
  return open.reduce((size, outer) => size + outer.size, group.size);
}

/** Time to compile a pattern of few characters, in microseconds, as all constants below. */
const BASE_TIME = 15;
const TIME_PER_CHARACTER = 0.3;
const TIME_PER_INSTRUCTION = 3;
/** Of `\w` and its like, and of a bracket class. */
const TIME_PER_CLASS = 10;
const TIME_PER_UNICODE_CLASS = 150;
/** Of one code point of a range whose case is folded. */
const TIME_PER_FOLDED = 0.1;
/** Code points above it have no case. */
const MAX_CASED = 0x1e943;

/** About how long compiling a pattern takes, in microseconds on an ordinary machine; rather too much than too little. */
export function compileTime(source: string): number {
  // Rejected before it is compiled.
  if (source.length > 2 * LIMITS.pattern) return BASE_TIME;
  const occurrences = (token: RegExp) => source.match(token)?.length ?? 0;
  const folded = folds(source) ? rangeWidths(source).reduce((sum, width) => sum + Math.min(width, MAX_CASED), 0) : 0;
  return (
    BASE_TIME +
    source.length * TIME_PER_CHARACTER +
    Math.min(estimate(source), MAX_ESTIMATE) * TIME_PER_INSTRUCTION +
    occurrences(/\[|\\[wWsSdD]/g) * TIME_PER_CLASS +
    occurrences(/\\[pP]/g) * TIME_PER_UNICODE_CLASS +
    folded * TIME_PER_FOLDED
  );
}

const folds = (source: string): boolean => /\(\?[A-Za-z]*i/.test(source);

/** How many ranges of a bracket class are wide, counting those whose ends cannot be read here. */
const wideRanges = (bracket: string): number => rangeWidths(bracket).filter((width) => width > WIDE_RANGE).length;

/** Widths of the ranges of bracket classes; infinite where the ends cannot be read here. */
function rangeWidths(brackets: string): number[] {
  const end = (text: string): number => {
    if (!text.startsWith('\\')) return text.codePointAt(0) ?? 0;
    return text.startsWith('\\x{') ? Number.parseInt(text.slice(3), 16) : NaN;
  };
  const ranges = brackets.matchAll(/(\\x\{[0-9a-fA-F]+\}|\\[^]|[^\\])-(\\x\{[0-9a-fA-F]+\}|\\[^]|[^\]\\])/gu);
  return [...ranges].map(([, from = '', to = '']) => {
    const width = end(to) - end(from);
    return Number.isNaN(width) ? Infinity : width;
  });
}
