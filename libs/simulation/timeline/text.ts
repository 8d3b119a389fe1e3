export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/**
 * Replaces what databases cannot store: U+0000 and unpaired surrogates, which agents may send. Keeps at most 30 combining
 * marks per letter (UAX #15, section 13), because normalising more of them takes quadratic time.
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
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return (sanitize(value as JsonValue, 0) ?? null) as { readonly [name: string]: JsonValue } | null;
}

/** @returns undefined when the value is nested too deeply */
function sanitize(value: JsonValue, depth: number): JsonValue | undefined {
  if (typeof value === 'string') return sanitizeText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[]).map((item) => sanitize(item, depth + 1));
    return items.includes(undefined) ? undefined : (items as JsonValue[]);
  }
  const entries: [string, JsonValue][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const cleaned = sanitize(inner, depth + 1);
    if (cleaned === undefined) return undefined;
    entries.push([sanitizeText(name), cleaned]);
  }
  // fromEntries creates an own property even for `__proto__`.
  return Object.fromEntries(entries);
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
