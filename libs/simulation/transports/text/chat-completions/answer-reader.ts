import { TextDecoder } from 'node:util';
import { OutboundError, type OutboundStream } from '../../../../outbound-http/index.js';
import { READ_LIMITS, ReadCount } from '../../../other-side/read-limits.js';
import { CallFailure } from '../../../timeline/failure.js';
import type { CompletionAssembler } from './completion.js';
import { EventStreamParser } from './event-stream.js';
import { ANSWER_LIMITS, CLOSING_GRACE_MS } from './limits.js';

type Kind = 'event-stream' | 'json';

/** Characters of the body that are kept for failures. */
const MAX_BEGINNING = 4_000;

/** Reads a chat completion from a response, streamed or not, within the limits. */
export class AnswerReader {
  /** The beginning of the body so far. */
  beginning = '';
  /** The piece of the body that is being interpreted: if that fails, the piece that was not understood. */
  piece: string | undefined;
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true });
  private readonly events = new EventStreamParser();
  private kind: Kind | undefined;
  private readonly count = new ReadCount(READ_LIMITS.answer);
  private text = '';

  constructor(private readonly assembler: CompletionAssembler) {}

  /** @throws CallFailure, OutboundError */
  async read({ headers, body, close }: OutboundStream): Promise<void> {
    this.kind = kindOf(headers['content-type']);
    let grace: NodeJS.Timeout | undefined;
    try {
      for await (const chunk of body) {
        if (this.take(chunk)) return;
        // The answer is complete; do not wait long for the formal end of the stream.
        if (this.assembler.finishReason !== undefined) grace ??= setTimeout(close, CLOSING_GRACE_MS);
      }
    } catch (error) {
      // Our own close after the grace time looks like a broken connection.
      if (grace === undefined || !(error instanceof OutboundError)) throw error;
    } finally {
      clearTimeout(grace);
    }
    this.end();
  }

  /** @returns whether the answer is complete */
  private take(chunk: Buffer): boolean {
    const exceeded = this.count.push(chunk);
    if (exceeded !== undefined) throw new CallFailure('answer_too_large', exceeded);
    const decoded = this.decode(chunk);
    if (this.beginning.length < MAX_BEGINNING) this.beginning += decoded.slice(0, MAX_BEGINNING);
    this.text = this.kind === 'event-stream' ? decoded : this.text + decoded;
    if (this.kind === undefined) {
      // Trimmed, so that endless white space is not scanned again with every chunk.
      this.text = this.text.trimStart();
      this.piece = this.text;
      this.kind = detectKind(this.text);
      this.piece = undefined;
    }
    if (this.kind === 'event-stream') {
      const isComplete = this.takeEvents(this.events.push(this.text));
      this.text = '';
      return isComplete;
    }
    if (this.text.length > ANSWER_LIMITS.event) throw new CallFailure('answer_too_large');
    return false;
  }

  /** @returns whether the stream has ended with `[DONE]` */
  private takeEvents(events: readonly string[]): boolean {
    for (const event of events) {
      if (event.trim() === '[DONE]') {
        this.assembler.finishReason ??= 'stop';
        return true;
      }
      this.piece = event;
      this.assembler.chunk(event);
      this.piece = undefined;
    }
    return false;
  }

  /** The body has ended. */
  private end(): void {
    if (this.kind === 'json') {
      this.piece = this.text;
      this.assembler.whole(this.text);
    } else if (this.kind === undefined) {
      this.piece = this.text;
      throw new CallFailure('invalid_answer', this.text === '' ? 'it is empty' : 'it is cut short');
    } else if (this.assembler.finishReason === undefined) throw new CallFailure('stream_cut');
  }

  /** Chunks may end in the middle of a character. @throws CallFailure for invalid UTF-8 */
  private decode(chunk: Buffer): string {
    try {
      return this.utf8.decode(chunk, { stream: true });
    } catch (cause) {
      this.piece = chunk.subarray(0, MAX_BEGINNING).toString('utf8');
      throw new CallFailure('invalid_answer', 'it is not UTF-8', { cause });
    }
  }
}

function kindOf(contentType: string | undefined): Kind | undefined {
  if (contentType === undefined) return undefined;
  if (/^text\/event-stream\b/i.test(contentType)) return 'event-stream';
  return /^application\/(.+\+)?json\b/i.test(contentType) ? 'json' : undefined;
}

/** Detects the kind when the content type is missing or different. @throws CallFailure when it is neither */
function detectKind(beginning: string): Kind | undefined {
  if (beginning.startsWith('{')) return 'json';
  if (/^(data|event|id|retry)?:/.test(beginning)) return 'event-stream';
  if (beginning.length >= 'event:'.length) throw new CallFailure('invalid_answer', 'it is neither a stream nor JSON');
  return undefined;
}
