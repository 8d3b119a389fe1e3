export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/**
 * A text as every database can store it: without U+0000 and unpaired surrogates, which agents may well send. Of marks
 * on one letter 30 are kept (UAX #15, 13): normalising more of them takes quadratic time.
 */
export const sanitizeText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\u0000', '\uFFFD')
    .replace(/(\p{M}{30})\p{M}+/gu, '$1');

/** What is nested deeper is no argument of a tool, and the libraries that meet it later recurse. */
const MAX_DEPTH = 32;

/**
 * The arguments of a tool call, which are JSON text.
 * @returns null unless they are a JSON object of bearable depth
 */
export function parseArguments(json: string): { readonly [name: string]: JsonValue } | null {
  let value: unknown;
  try {
    // Agents send an empty text for a tool without arguments.
    value = JSON.parse(json.trim() === '' ? '{}' : json);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return (sanitize(value as JsonValue, 0) ?? null) as { readonly [name: string]: JsonValue } | null;
}

/** Undefined when it is nested too deeply. */
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
  // fromEntries defines fields of its own even for `__proto__`.
  return Object.fromEntries(entries);
}

const AROUND = /["'“”„«»\s]/u;

/** A quote without quotation marks and white space around it, in linear time: a model may send a megabyte of them. */
export function trimQuotes(quote: string): string {
  let [from, to] = [0, quote.length];
  while (from < to && AROUND.test(quote[from]!)) from++;
  while (from < to && AROUND.test(quote[to - 1]!)) to--;
  return quote.slice(from, to);
}

/** A text truncate for a sentence. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
