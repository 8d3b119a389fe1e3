import { type Evidence, joinSpeech, rangeOfText, type SpeechEntry, type TimelineEntry } from '../simulation/index.js';
import type { Finding } from './findings.js';

/** A finding's evidence on one timeline entry. */
export interface Reference {
  readonly number: number;
  readonly name: string;
  readonly met: boolean | null;
  readonly quote: string;
}

/** Part of a text with the findings that quote it. */
export interface Piece {
  readonly text: string;
  readonly references: readonly Reference[];
}

/** The evidence on a call's timeline, by the index of the entry. */
export function referencesOf(
  findings: readonly Finding[],
  timeline: readonly TimelineEntry[],
): ReadonlyMap<number, readonly Reference[]> {
  const references = new Map<number, Reference[]>();
  for (const { number, name, met, evidence } of findings) {
    for (const { entry, quote } of evidence.flatMap((one) => placesOf(one, timeline))) {
      const reference = { number, name, met, quote };
      const others = references.get(entry);
      if (others) others.push(reference);
      else references.set(entry, [reference]);
    }
  }
  return references;
}

/** What one side says in a turn of a voice call is often several entries: a quote of more than one is split. */
function placesOf({ entry, quote }: Evidence, timeline: readonly TimelineEntry[]): Evidence[] {
  const whole = [{ entry, quote }];
  const quoted = timeline[entry];
  if (quoted?.type !== 'speech' || foundIn(quoted.text, quote)) return whole;
  const parts = timeline.flatMap((part, index) => (isSameUtterance(part, quoted) ? [{ part, index }] : []));
  const said = joinSpeech(parts.map(({ part }) => part));
  const [from, to] = foundIn(said, quote) ?? [0, 0];
  let end = 0;
  const places = parts.flatMap(({ part, index }) => {
    const start = said.indexOf(part.text, end);
    end = start + part.text.length;
    const words = said.slice(Math.max(from, start), Math.min(to, end)).trim();
    return start < to && end > from && words !== '' ? [{ entry: index, quote: words }] : [];
  });
  return places.length > 0 ? places : whole;
}

const isSameUtterance = (entry: TimelineEntry, { speaker, turn }: SpeechEntry): entry is SpeechEntry =>
  entry.type === 'speech' && entry.speaker === speaker && entry.turn === turn;

/**
 * Splits a text at the quotes. Overlapping quotes are merged. A quote that is not in the text highlights the whole
 * text.
 */
export function piecesOf(text: string, references: readonly Reference[]): Piece[] {
  const spans = references
    .map((reference) => ({ reference, range: rangeOf(reference.quote, text) }))
    .sort((a, b) => a.range[0] - b.range[0]);
  const pieces: Piece[] = [];
  let position = 0;
  for (let index = 0; index < spans.length;) {
    const [start] = spans[index]!.range;
    let end = start;
    const together: Reference[] = [];
    for (; index < spans.length && (together.length === 0 || spans[index]!.range[0] < end); index++) {
      end = Math.max(end, spans[index]!.range[1]);
      together.push(spans[index]!.reference);
    }
    if (start > position) pieces.push({ text: text.slice(position, start), references: [] });
    pieces.push({ text: text.slice(start, end), references: together.sort((a, b) => a.number - b.number) });
    position = end;
  }
  if (position < text.length) pieces.push({ text: text.slice(position), references: [] });
  return pieces;
}

/** The simulation appends an ellipsis to shortened quotes. */
const SHORTENED = /…$/u;

const rangeOf = (quote: string, text: string): readonly [number, number] => foundIn(text, quote) ?? [0, text.length];

function foundIn(text: string, quote: string): readonly [number, number] | undefined {
  const words = quote.replace(SHORTENED, '').trim();
  const exact = words === '' ? -1 : text.indexOf(words);
  if (exact !== -1) return [exact, exact + words.length];
  return words === '' ? undefined : rangeOfText(words.replace(/^["'“”„«»]+|["'“”„«»]+$/gu, ''), text);
}
