import { TextDecoder } from 'node:util';
import { OutboundError, type OutboundStream } from '../../outbound-http/index.js';
import { READ_LIMITS, ReadCount } from '../other-side/read-limits.js';
import { CallFailure } from '../timeline/failure.js';
import type { CompletionAssembler } from './completion.js';
import { EventStreamParser, type ServerSentEvent } from './event-stream.js';
import { ANSWER_LIMITS, CLOSING_GRACE_MS } from './limits.js';

type Kind = 'event-stream' | 'json';

/** Characters of the body that are kept for failures. */
const MAX_BEGINNING = 4_000;

/** Names of events that only keep the connection open. */
const HEARTBEAT = /^(ping|heart-?beat|keep-?alive)$/i;

/** Whether the agent calls tools at the end of its answer, in the words of several servers. */
export const callsTools = (finishReason: string | undefined): boolean =>
  /^(tool[_-]calls?|function[_-]call|tool[_-]use)$/i.test(finishReason ?? '');

/** Reads a chat completion from a response, streamed or not, within the limits. */
export class AnswerReader {
  /** The beginning of the body so far. */
  beginning = '';
  /** The piece of the body that is being interpreted: if that fails, the piece that was not understood. */
  piece: string | undefined;
  private readonly utf8 = new TextDecoder('utf-8', { fatal: true });
  private readonly events = new EventStreamParser();
  private kind: Kind | undefined;
  private isDeclaredStream = false;
  private readonly count = new ReadCount(READ_LIMITS.answer);
  private text = '';
  private hasLine = false;
  private eventCount = 0;
  /** The first event without choices. */
  private foreign: string | undefined;
  /** When the latest event came, after which the end of the stream was waited for in vain. */
  idleSince: number | undefined;
  /** Whether the body ended without a reason and `[DONE]`. */
  isEndUnsaid = false;

  constructor(
    private readonly assembler: CompletionAssembler,
    private readonly now: () => number,
  ) {}

  /** @throws CallFailure, OutboundError */
  async read({ headers, body, close }: OutboundStream): Promise<void> {
    this.isDeclaredStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
    let grace: NodeJS.Timeout | undefined;
    try {
      for await (const chunk of body) {
        const before = this.eventCount;
        if (this.take(chunk)) return this.requireAnswer();
        if (this.assembler.finishReason === undefined || this.eventCount === before) continue;
        // The answer may be complete; do not wait long for the formal end of the stream.
        clearTimeout(grace);
        grace = this.closeLater(close);
      }
    } catch (error) {
      // Our own close looks like a broken connection. One that breaks after a reason has lost nothing, unless more had begun.
      const isComplete = this.idleSince !== undefined || (grace !== undefined && !this.assembler.hasMore);
      if (!isComplete || !(error instanceof OutboundError)) throw error;
    } finally {
      clearTimeout(grace);
    }
    this.end(headers);
  }

  private closeLater(close: () => void): NodeJS.Timeout {
    const { hasMore, finishReason } = this.assembler;
    const since = this.now();
    const graceMs = CLOSING_GRACE_MS[hasMore ? 'more' : callsTools(finishReason) ? 'toolCalls' : 'reason'];
    return setTimeout(() => {
      this.idleSince = since;
      close();
    }, graceMs);
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
      this.kind = this.isDeclaredStream && /^[^{]/.test(this.text) ? 'event-stream' : detectKind(this.text);
      this.piece = undefined;
    }
    // The first line tells lines of chunks from one object.
    if (this.kind === 'json' && !this.hasLine && decoded.includes('\n')) {
      this.hasLine = true;
      if (isChunk(this.text.slice(0, this.text.indexOf('\n')))) this.kind = 'event-stream';
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
  private takeEvents(events: readonly ServerSentEvent[]): boolean {
    for (const { name, data } of events) {
      for (const text of textsOf(data)) {
        if (text === '[DONE]') {
          this.assembler.finishReason ??= 'stop';
          return true;
        }
        this.piece = text;
        this.assembler.chunk(text, name);
        this.piece = undefined;
        if (!this.assembler.isAnswer) this.foreign ??= text;
        if (!HEARTBEAT.test(name)) this.eventCount++;
      }
    }
    return false;
  }

  /** The body has ended. */
  private end(headers: OutboundStream['headers']): void {
    if (this.kind === 'json') {
      this.piece = withoutDone(this.text);
      this.assembler.whole(this.piece);
      return;
    }
    this.piece = this.text;
    if (this.kind === undefined)
      throw new CallFailure('invalid_answer', this.text === '' ? 'it is empty' : 'it is cut short');
    this.piece = undefined;
    const left = this.events.end();
    const isHalf = left.some(({ data }) => !textsOf(data).every((text) => text === '[DONE]' || isJson(text)));
    const isDone = !isHalf && this.takeEvents(left);
    if (!isDone && this.assembler.finishReason === undefined) {
      // The end of a body of unknown length does not show that it is whole.
      const isWhole = headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
      if (isHalf || !isWhole) throw new CallFailure('stream_cut');
      this.isEndUnsaid = true;
    }
    this.requireAnswer();
  }

  /** A stream in which no event had choices is another protocol. @throws CallFailure */
  private requireAnswer(): void {
    if (this.assembler.isAnswer || (this.foreign === undefined && !this.isEndUnsaid)) return;
    this.piece = this.foreign;
    throw new CallFailure('invalid_answer', 'it has no list of choices');
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

/** Detects the kind by the first characters: headers are often wrong. @throws CallFailure when it is neither */
function detectKind(beginning: string): Kind | undefined {
  if (beginning.startsWith('{')) return 'json';
  if (/^(data|event|id|retry)?:/.test(beginning)) return 'event-stream';
  if (beginning.length >= 'event:'.length) throw new CallFailure('invalid_answer', 'it is neither a stream nor JSON');
  return undefined;
}

/** The texts of an event: several where a server leaves out the blank lines between its events. */
function textsOf(data: string): readonly string[] {
  const lines = data.split('\n').flatMap((line) => line.trim() || []);
  const isOne = lines.length < 2 || isJson(data) || !lines.every((line) => line === '[DONE]' || isJson(line));
  return isOne ? [data.trim()].filter((text) => text !== '') : lines;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isChunk(line: string): boolean {
  try {
    const chunk = JSON.parse(line) as { choices?: { delta?: unknown }[] } | null;
    return chunk?.choices?.[0]?.delta !== undefined;
  } catch {
    return false;
  }
}

/** Some gateways put the end of a stream behind one JSON object. */
function withoutDone(text: string): string {
  const at = text.lastIndexOf('data:');
  return at !== -1 && text.slice(at + 5).trim() === '[DONE]' ? text.slice(0, at) : text;
}
