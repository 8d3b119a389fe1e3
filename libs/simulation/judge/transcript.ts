import { findWords, normaliseText } from '../../text/index.js';
import type { Evidence } from '../timeline/evidence.js';
import { platformText, soundText } from '../timeline/sound-text.js';
import { historySide, historyText } from '../timeline/history-text.js';
import { toolCallText } from '../timeline/tool-call-text.js';
import { quotedJson } from '../model/quoted-json.js';
import { truncate, trimQuotes } from '../timeline/text.js';
import { withUnknownWords } from '../timeline/known-words.js';
import { isInterruption } from '../timeline/interruptions.js';
import type { SpeechEntry, TimelineEntry, ToolCallEntry } from '../timeline/timeline.js';
import type { WordSource } from '../voice/facts/results.js';
import type { JudgedPart } from './statements.js';

/** A line of the transcript as the judge sees it. */
interface TranscriptLine {
  readonly who: 'agent' | 'caller' | 'agent calls tool' | 'call' | `before the call, ${string}`;
  readonly atMs: number;
  readonly text: string;
  /** The text with marks where words of a voice call were cut off or are not known; quotes are not located in it. */
  readonly shown: string;
  /** The timeline entries that it consists of, with the position of their text in `text`. */
  readonly parts: readonly { readonly entry: number; readonly start: number }[];
}

/** What is known of the words of a voice call. */
export interface VoiceWords {
  /** Whether some words of the agent are not known. */
  readonly isUnclear: boolean;
  /** Where the others come from. */
  readonly source: WordSource;
  /** Whether a caller without a script interrupted the agent with prepared words. */
  readonly hasInterruptions: boolean;
}

/** Whose line the quote must be from; undefined: anybody's. */
export type QuotedSide = 'agent' | 'caller' | undefined;

/** What is wrong with a quote, as a sentence for the model. */
export interface UnusableQuote {
  readonly fault: string;
}

/** Maximum length of a line shown to the judge, in characters. */
const MAX_LINE = 8_000;
const MAX_QUOTE = 500;
/** A shorter quote is evidence only if it is everything that was said: single words stand in nearly every transcript. */
const MIN_WORDS = 3;

const BEFORE = 'before the call, ';
const CUT_OFF = '[cut off]';
const UNCLEAR = '[unclear]';
const INTERRUPTS = '[interrupts]';

/**
 * An agent that speaks to the judge, by its form of answer or its prompt, gives no evidence in its own favour, and a real
 * caller none at all. For normalised texts, so that no form of the characters evades it.
 */
const ADDRESSES_JUDGE = /\bmet\b["']?\s*[:=]\s*["']?(true|false)\b|\btranscript is over\b|\bstatement\s*:\s*"/u;

/** The transcript as shown to the judge, in which its quotes are located. */
export class Transcript {
  private readonly lines: readonly TranscriptLine[];
  /** Normalised texts of the lines for comparison with quotes, computed on first use. */
  private readonly normalised: string[] = [];
  /** All lines without white space and quotation marks, computed on first use. */
  private squeezed: string | undefined;
  readonly voice: VoiceWords | undefined;
  /** Whether lines of an earlier conversation precede it. */
  readonly hasHistory: boolean;
  private readonly isProduction: boolean;

  constructor(entries: readonly TimelineEntry[], source: WordSource = 'wire') {
    this.lines = linesOf(entries);
    this.hasHistory = entries.some(({ type }) => type === 'given');
    this.isProduction = entries.some((entry) => entry.type === 'end' && entry.recorded?.isProduction === true);
    const isVoice = entries.some((entry) => entry.type === 'speech' && entry.words !== undefined);
    const isUnclear = withUnknownWords({ entries }).length > 0;
    this.voice = isVoice ? { isUnclear, source, hasInterruptions: entries.some(isInterruption) } : undefined;
  }

  /**
   * One JSON object per line, so that no text can imitate another line or the end of the transcript.
   * @param part the lines that a statement is about, which are marked
   */
  toString(part?: JudgedPart): string {
    return this.lines
      .map((line) => {
        const { who, atMs, shown } = line;
        const time = part && timeOf(line, part);
        return quotedJson({ ...(time !== undefined && { part: time }), who, atMs, text: shown });
      })
      .join('\n');
  }

  /** Whether JSON stands in a line: an agent may say a verdict, which the judge then repeats. */
  repeats(json: string): boolean {
    this.squeezed ??= squeezed(this.lines.map(({ text }) => text).join('\n'));
    return this.squeezed.includes(squeezed(json));
  }

  /**
   * Locates a quote: it must stand in a line at word boundaries after normalisation, and have three words or be the whole
   * line.
   * @param who limits the search to this side's words
   * @param met the verdict that it is to prove
   * @param part limits the search to these entries
   */
  locate(quote: string, who?: QuotedSide, met = false, part?: JudgedPart): Evidence | UnusableQuote {
    // Models escape the quotation marks of a tool's arguments once more.
    const said = quote.replaceAll('\\"', '"');
    const wanted = normaliseText(trimQuotes(this.voice ? withoutMarks(said) : said));
    const missing = {
      fault: `${who ? `The ${who} did not say` : 'Nobody said'} "${truncate(quote, 200)}" in the ${part ? 'lines with "part"' : 'transcript'}.`,
    };
    if (wanted.length > MAX_LINE || !/[\p{L}\p{N}]/u.test(wanted)) return missing;
    const isLong = hasWords(wanted, MIN_WORDS);
    let isFound = false;
    for (const [position, line] of this.lines.entries()) {
      if (line.who === 'call' || line.who.startsWith(BEFORE) || (who && line.who !== who)) continue;
      if (part && timeOf(line, part) === undefined) continue;
      const text = (this.normalised[position] ??= normaliseText(line.text));
      if ((line.who === 'caller' ? this.isProduction : met) && ADDRESSES_JUDGE.test(text)) continue;
      const at = findWords(wanted, text);
      if (at === -1) continue;
      isFound = true;
      if (isLong || trimPunctuation(text) === trimPunctuation(wanted)) {
        return { entry: entryAt(line, at), quote: truncate(quote.trim(), MAX_QUOTE) };
      }
    }
    if (!isFound) return missing;
    return { fault: `The quote "${truncate(quote, 200)}" proves nothing: it needs at least ${MIN_WORDS} words.` };
  }
}

/** Which time of a part a line belongs to; undefined outside of it. */
const timeOf = ({ parts }: TranscriptLine, part: JudgedPart): number | undefined =>
  parts.map(({ entry }) => part.get(entry)).find((time) => time !== undefined);

const squeezed = (text: string): string => text.replace(/[\s"'“”\\]+/g, '');

/** Speech of one side that only pauses divide is one line. */
function linesOf(entries: readonly TimelineEntry[]): TranscriptLine[] {
  const lines: (TranscriptLine & {
    text: string;
    shown: string;
    parts: { entry: number; start: number }[];
    turn: number;
  })[] = [];
  for (const [entry, item] of entries.entries()) {
    const content = contentOf(item);
    const text = truncate(content.text, MAX_LINE);
    const shown = item.type === 'speech' ? withMarks(text, item) : text;
    const last = lines.at(-1);
    if (last && item.type === 'speech' && last.who === item.speaker && last.turn === item.turn) {
      const separator = item.continues ? '' : ' ';
      last.parts.push({ entry, start: last.text.length + separator.length });
      last.text = truncate(`${last.text}${separator}${text}`, MAX_LINE);
      last.shown = truncate(`${last.shown}${separator}${shown}`, MAX_LINE);
    } else {
      const atMs = Math.round(item.start);
      lines.push({ who: content.who, text, shown, atMs, turn: item.turn, parts: [{ entry, start: 0 }] });
    }
  }
  return lines;
}

/** What was heard of the agent on a voice call, with what is missing of it. */
function withMarks(text: string, entry: SpeechEntry): string {
  if (isInterruption(entry)) return `${INTERRUPTS} ${text}`;
  const { words, interrupted, cut } = entry;
  if (words === undefined) return text;
  const isCut = interrupted || cut;
  return [text, words === 'known' ? '' : UNCLEAR, isCut ? CUT_OFF : ''].filter((part) => part !== '').join(' ');
}

/** Judges quote the marks with the words. */
const withoutMarks = (quote: string): string =>
  [CUT_OFF, UNCLEAR, INTERRUPTS]
    .reduce((text, mark) => text.replaceAll(mark, ' '), quote)
    .replace(/ {2,}/g, ' ')
    .trim();

/** Normalising changes lengths a little, so the entry of a quote near a pause may be the one beside it. */
function entryAt({ parts }: TranscriptLine, position: number): number {
  return parts.findLast(({ start }) => start <= position)?.entry ?? parts[0]!.entry;
}

function contentOf(entry: TimelineEntry): Pick<TranscriptLine, 'who' | 'text'> {
  switch (entry.type) {
    case 'speech':
      return { who: entry.speaker, text: entry.text };
    case 'tool_call':
      return { who: 'agent calls tool', text: `${toolCallText(entry)}${returned(entry)}` };
    case 'given':
      return { who: `${BEFORE}${historySide(entry.line)}`, text: historyText(entry.line) };
    case 'sound':
      return { who: 'call', text: soundText(entry) };
    case 'finding':
      return { who: 'call', text: `Protocol: ${entry.detail}` };
    case 'platform':
      return { who: 'call', text: platformText(entry) };
    case 'silence':
      return { who: 'call', text: `The ${entry.of} was silent for ${Math.round(entry.end - entry.start)} ms` };
    case 'end':
      return { who: 'call', text: `The call was ended by the ${entry.by}: ${entry.reason}` };
    case 'error':
      return { who: 'call', text: entry.message };
  }
}

/** What the tester returned for a tool call. */
const returned = ({ result }: ToolCallEntry): string =>
  result === undefined ? '' : ` returned ${JSON.stringify(result)}`;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Whether a text has at least `wanted` words, in scripts with and without spaces. */
function hasWords(text: string, wanted: number): boolean {
  let count = 0;
  for (const { isWordLike } of segmenter.segment(text)) if (isWordLike && ++count >= wanted) return true;
  return false;
}

const WORD = /[\p{L}\p{N}]/u;

/** Removes white space and punctuation around a text, in linear time. */
function trimPunctuation(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && !WORD.test(text[from]!)) from++;
  while (from < to && !WORD.test(text[to - 1]!)) to--;
  return text.slice(from, to);
}
