export { distinctLabels } from './distinct-labels.js';
export { findWords } from './find-words.js';
export { coversLanguage } from './languages.js';
export { Redaction, REDACTED } from './redaction.js';
export { retryAfterMs } from './retry-after.js';
export { NormalisedText, normaliseText } from './normalise-text.js';

/**
 * Replaces unsafe characters in untrusted text by visible symbols; HTML and XML must still be escaped.
 *
 * Replaced are control characters, which XML forbids and terminals interpret; bidirectional overrides ("Trojan Source",
 * CVE-2021-42574); line separators; noncharacters. Unpaired surrogates become U+FFFD. Line ends become `\n`.
 */
export const visible = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(UNSAFE, (character) => standIn(character.codePointAt(0)!));

const UNSAFE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069\uFFF9-\uFFFB\p{Noncharacter_Code_Point}]/gu;

/** U+2400 to U+2421 are symbols for the control characters. */
function standIn(code: number): string {
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Shortens a text to `length` UTF-16 units, the last of which is an ellipsis. */
export const clipped = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;

/** The text as the beginning of a sentence. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Collapses white space to one line. */
export const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim();

/** A name for display: on one line, at most 200 characters. */
export const title = (text: string): string => clipped(oneLine(text), 200);

/** Maximum length of one value, and of all values together. */
const MAX_VALUE = 40;
const MAX_VALUES = 100;

/**
 * Display name of a case: `Books a table (day: Friday, people: 4)`. Values that are too long are shortened and followed by
 * the hash of the row, so that cases stay distinguishable.
 * @param variables null without variables
 * @param caseKey ends with the hash of the row
 */
export function caseName(
  name: string,
  variables: Readonly<Record<string, string | number | boolean>> | null,
  caseKey: string,
): string {
  if (variables === null) return name;
  const values = Object.entries(variables).sort(([a], [b]) => (a < b ? -1 : 1));
  const whole = values.map(([key, value]) => `${key}: ${oneLine(String(value))}`).join(', ');
  const short = values.map(([key, value]) => `${key}: ${clipped(oneLine(String(value)), MAX_VALUE)}`).join(', ');
  const shown = clipped(short, MAX_VALUES);
  return shown === whole ? `${name} (${shown})` : `${name} (${shown} #${caseKey.split('#').at(-1) ?? ''})`;
}

/** `1 call`, `2 calls`, `1,200 calls`. */
export const count = (n: number, what: string): string => `${number(n)} ${what}${n === 1 ? '' : 's'}`;

/** Formats a number with thousands separators and at most one decimal. */
export const number = (value: number): string => value.toLocaleString('en-GB', { maximumFractionDigits: 1 });

/** Formats a share from 0 to 1 as a percentage. */
export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A latency or a duration: `85 ms`, `1.24 s`, `12.3 s`, `2 min 5 s`, `1 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A time on the timeline of a call: `0:07.4`, `12:00.0`. */
export function moment(ms: number): string {
  const tenths = Math.round(ms / 100);
  return `${Math.floor(tenths / 600)}:${((tenths % 600) / 10).toFixed(1).padStart(4, '0')}`;
}

/** `2026-12-04 10:00 UTC` from ISO 8601; other text is returned unchanged. */
export function dateTime(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? iso : `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Milliseconds between two times; undefined unless both are known. */
export function between(startedAt: string | null, endedAt: string | null): number | undefined {
  if (startedAt === null || endedAt === null) return undefined;
  const ms = Date.parse(endedAt) - Date.parse(startedAt);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
