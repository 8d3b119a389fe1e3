import { fold } from '../../evaluation-definition/index.js';
import { type Evidence, toolCallText } from '../checks.js';
import { truncate, trimQuotes } from '../text.js';
import type { TimelineEntry } from '../timeline.js';

/** A line of the transcript as the judge sees it. */
interface TranscriptLine {
  /** Index of the timeline entry. */
  readonly entry: number;
  readonly who: 'agent' | 'caller' | 'agent calls tool' | 'call';
  readonly atMs: number;
  readonly text: string;
}

/** Maximum length of a line shown to the judge, in characters. */
const MAX_LINE = 8_000;
const MAX_QUOTE = 500;

/** The transcript as shown to the judge, in which its quotes are located. */
export class Transcript {
  private readonly lines: readonly TranscriptLine[];
  /** Normalised texts of the lines for comparison with quotes, computed on first use. */
  private readonly folded: string[] = [];

  constructor(entries: readonly TimelineEntry[]) {
    this.lines = entries.flatMap((entry, index) => {
      const line = lineOf(entry);
      if (!line) return [];
      return [{ entry: index, atMs: Math.round(entry.start), ...line, text: truncate(line.text, MAX_LINE) }];
    });
  }

  /** One JSON object per line, so that no text can imitate another line or the end of the transcript. */
  toString(): string {
    return this.lines.map((line) => JSON.stringify(line)).join('\n');
  }

  /**
   * Locates a quote, ignoring letter case and white space.
   * @param who limits the search to this side's words
   */
  locate(quote: string, who?: 'agent' | 'caller'): Evidence | undefined {
    const wanted = fold(trimQuotes(quote));
    if (!/[\p{L}\p{N}]/u.test(wanted)) return undefined;
    const line = this.lines.find((candidate, position) => {
      if (candidate.who === 'call' || (who && candidate.who !== who)) return false;
      return (this.folded[position] ??= fold(candidate.text)).includes(wanted);
    });
    return line && { entry: line.entry, quote: truncate(quote.trim(), MAX_QUOTE) };
  }
}

function lineOf(entry: TimelineEntry): Pick<TranscriptLine, 'who' | 'text'> | undefined {
  switch (entry.type) {
    case 'speech':
      return { who: entry.speaker, text: entry.text };
    case 'tool_call':
      return { who: 'agent calls tool', text: toolCallText(entry) };
    case 'silence':
      return { who: 'call', text: `The ${entry.of} was silent for ${Math.round(entry.end - entry.start)} ms` };
    case 'end':
      return { who: 'call', text: `The call was ended by the ${entry.by}: ${entry.reason}` };
    case 'error':
      return { who: 'call', text: entry.message };
  }
}
