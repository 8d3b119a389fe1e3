import { RE2JS } from 're2js';
import { compileMatcher, compilePattern, fold, type Matcher } from '../evaluation-definition/index.js';
import { shortened } from './clean.js';

/** Where a matcher finds itself in a text. */
export interface Found {
  /** Position of the find in the text, for comparison within it. */
  readonly position: number;
  /** The find with the words around it, as it was said. */
  readonly quote: string;
}

/** Compiled patterns by source: calls of one evaluation ask the same again and again. */
const compiled = new Map<string, (said: string) => boolean>();
const MAX_COMPILED = 1_000;

/** Whether a matcher finds itself in what one side said in one turn. Takes time linear in the text. */
export function matches(matcher: Matcher, said: string): boolean {
  const key = 'pattern' in matcher ? `p${matcher.pattern}` : `t${matcher.text}`;
  let test = compiled.get(key);
  if (!test) {
    test = compileMatcher(matcher);
    const [oldest] = compiled.keys();
    if (compiled.size >= MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
    compiled.set(key, test);
  }
  return test(said);
}

/** The first place at which a matcher finds itself. */
export function find(matcher: Matcher, said: string): Found | undefined {
  if (!matches(matcher, said)) return undefined;
  const [start, end] = ('pattern' in matcher ? rangeOfPattern(matcher.pattern, said) : undefined) ??
    ('text' in matcher ? rangeOfText(matcher.text, said) : undefined) ?? [0, said.length];
  return { position: start, quote: quoteAround(said, start, end) };
}

function rangeOfPattern(source: string, said: string): [number, number] | undefined {
  // Refuses what would be too large to compile, before the library itself is asked.
  compilePattern(source);
  const matcher = RE2JS.compile(source).matcher(said);
  return matcher.find() ? [matcher.start(), matcher.end()] : undefined;
}

/**
 * Where a text stands in what was said, whatever its letter case and white space: [start, end) in what was said.
 * Folding changes lengths, so that each folded character remembers its origin.
 */
export function rangeOfText(part: string, said: string): [number, number] | undefined {
  let folded = '';
  const origins: number[] = [];
  let position = 0;
  for (const character of said) {
    const isSpace = /\s/u.test(character);
    const text = isSpace ? (folded === '' || folded.endsWith(' ') ? '' : ' ') : character.toLowerCase();
    folded += text;
    for (let unit = 0; unit < text.length; unit++) origins.push(position);
    position += character.length;
  }
  const wanted = fold(part);
  const at = folded.indexOf(wanted);
  if (at === -1) return undefined;
  return [origins[at] ?? 0, (origins[at + wanted.length - 1] ?? 0) + 1];
}

/** Longest quote, and how much of it may stand before the find. */
const MAX_QUOTE = 240;
const BEFORE = 80;

/** The sentence or so that a find stands in. */
function quoteAround(said: string, start: number, end: number): string {
  const before = said.slice(Math.max(0, start - BEFORE), start);
  const boundary = Math.max(before.lastIndexOf('. '), before.lastIndexOf('? '), before.lastIndexOf('! '));
  const from = boundary === -1 ? start - before.length : start - before.length + boundary + 2;
  const next = said.slice(end).search(/[.?!](\s|$)/);
  const to = /[.?!]/.test(said[end - 1] ?? '') ? end : next === -1 ? said.length : end + next + 1;
  return shortened(said.slice(from, to).toWellFormed().trim(), MAX_QUOTE);
}
