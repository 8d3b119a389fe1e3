export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/**
 * What agents, tools and platforms say, as it is checked, shown and stored. Replaces what databases cannot store: U+0000 and
 * unpaired surrogates. Each becomes one character, so that no text arises that was not sent, such as a secret. Keeps at most 30
 * combining marks per letter (UAX #15, section 13), because normalising more of them takes quadratic time.
 */
export const sanitizeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\u0000', '\uFFFD')
    .replace(/(\p{M}{30})\p{M}+/gu, '$1');

/** Maximum nesting of tool arguments: libraries that process them later are recursive. */
const MAX_DEPTH = 32;

/**
 * Parses the arguments of a tool call.
 * @returns null unless the text is a JSON object within the nesting limit
 */
export function parseArguments(json: string): { readonly [name: string]: JsonValue } | null {
  let value: unknown;
  try {
    // Some agents send an empty string for a tool without arguments.
    value = JSON.parse(json.trim() === '' ? '{}' : json);
    // Others write their JSON as a text once more.
    if (typeof value === 'string') value = JSON.parse(value);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return isStorable(value) ? guarded(value as { readonly [name: string]: JsonValue }) : null;
}

/** Whether a value is within the nesting limit; numbers such as 1e999 are lost when JSON is written. */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'number' || Number.isFinite(value);
  return depth < MAX_DEPTH && Object.values(value).every((inner) => isStorable(inner, depth + 1));
}

/** Plain data with all texts and names in it cleaned, and without negative zeros, which JSON cannot write. */
export function guarded<T>(value: T, clean = sanitizeText): T {
  if (typeof value === 'string') return clean(value) as T;
  if (typeof value === 'number') return (value + 0) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => guarded(one as unknown, clean)) as T;
  // fromEntries creates an own property even for `__proto__`.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [clean(name), guarded(inner, clean)])) as T;
}

const AROUND = /["'“”„«»\s]/u;

/** Removes quotation marks and white space around a quote. Linear time: a model may send a megabyte of them. */
export function trimQuotes(quote: string): string {
  let [from, to] = [0, quote.length];
  while (from < to && AROUND.test(quote[from]!)) from++;
  while (from < to && AROUND.test(quote[to - 1]!)) to--;
  return quote.slice(from, to);
}

/** Shortens a text for use in a sentence. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
