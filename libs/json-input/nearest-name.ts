import { closest, distance } from 'fastest-levenshtein';
import type { Violation } from './paths.js';

/** Longer names are not compared, whose cost grows with the product of the lengths. */
const MAX_LENGTH = 100;
/** Violations of one value up to which known names are suggested: it can have a hundred thousand. */
export const MAX_SUGGESTIONS = 100;

/**
 * The known name for which another one was probably mistaken: they differ by one character, or by two if the name is long enough.
 * @param longFrom characters from which a name may differ by two
 * @returns undefined if none is so near
 */
export function nearestName(name: string, known: readonly string[], longFrom = 4): string | undefined {
  if (name.length < 2 || name.length > MAX_LENGTH || known.length === 0) return undefined;
  const nearest = closest(name, known);
  return distance(name, nearest) <= (name.length < longFrom ? 1 : 2) ? nearest : undefined;
}

/** `; did you mean pattern?`, or nothing. */
export function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `; did you mean ${nearest}?`;
}

/** What is said of a field that does not exist. @param known fields that may be meant */
export const unknownField = (name: string, known: readonly string[] = []): string =>
  `is not a known field${suggestion(name, known)}`;

/** A violation for each field that does not exist. */
export const unknownFields = (names: readonly string[], known: readonly string[] = []): Violation[] =>
  names.map((name) => ({ path: [name], text: unknownField(name, names.length <= MAX_SUGGESTIONS ? known : []) }));
