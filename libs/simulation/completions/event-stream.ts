import { CallFailure } from '../timeline/failure.js';
import { ANSWER_LIMITS } from './limits.js';

export interface ServerSentEvent {
  /** Empty for one without a name. */
  readonly name: string;
  readonly data: string;
}

/**
 * Parses server-sent events from text chunks. Used in place of eventsource-parser 3.1, which loses an event when a chunk ends
 * between two lone carriage returns.
 */
export class EventStreamParser {
  /** Chunks of the current, incomplete line. */
  private pieces: string[] = [];
  private length = 0;
  /** Whether the line ends with a carriage return, which may be the first half of a CRLF. */
  private isUndecided = false;
  private name = '';
  private data: string[] = [];
  private size = 0;

  /**
   * Returns all events that this chunk completes (WHATWG HTML, 9.2.6). A line that begins with `{` is one, too: some servers send
   * their chunks without `data:`.
   * @throws CallFailure when an event is too large
   */
  push(piece: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    this.pieces.push(piece);
    this.length += piece.length;
    // Only search for complete lines when there may be one: long lines in small chunks would take quadratic time.
    if (this.isUndecided || /[\r\n]/.test(piece)) this.takeLines(events);
    if (this.size + this.length > ANSWER_LIMITS.event) throw new CallFailure('answer_too_large', 'one event of it');
    return events;
  }

  /** The event that the end of the body leaves without its blank line: the standard drops it, servers rely on it. */
  end(): ServerSentEvent[] {
    const events = this.push('\n');
    this.line('', events);
    return events;
  }

  private takeLines(events: ServerSentEvent[]): void {
    const text = this.pieces.join('');
    let from = 0;
    for (let end = nextLineEnd(text, from); end; end = nextLineEnd(text, from)) {
      this.line(text.slice(from, end.at), events);
      from = end.after;
    }
    const rest = text.slice(from);
    this.pieces = [rest];
    this.length = rest.length;
    this.isUndecided = rest.endsWith('\r');
  }

  private line(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      if (this.data.length > 0) events.push({ name: this.name, data: this.data.join('\n') });
      this.data = [];
      this.name = '';
      this.size = 0;
    } else if (line.startsWith('{')) events.push({ name: '', data: line });
    else if (line.startsWith('event:')) this.name = line.slice(6, 100).trim();
    else if (line.startsWith('data:')) {
      this.data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      this.size += line.length;
    }
  }
}

function nextLineEnd(text: string, from: number): { at: number; after: number } | undefined {
  const feed = text.indexOf('\n', from);
  const carriage = text.slice(from, feed === -1 ? undefined : feed).indexOf('\r');
  if (carriage === -1) return feed === -1 ? undefined : { at: feed, after: feed + 1 };
  const at = from + carriage;
  // The next character decides whether this is a CRLF.
  if (at + 1 === text.length) return undefined;
  return { at, after: text[at + 1] === '\n' ? at + 2 : at + 1 };
}
