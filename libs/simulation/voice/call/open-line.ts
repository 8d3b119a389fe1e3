import type { Failure } from '../../timeline/failure.js';
import type { LineRest } from '../facts/plan.js';
import type { TurnAnswer } from '../facts/turn-question.js';

/** Pause between two sentences of a line that are synthesised one by one. */
export const SENTENCE_PAUSE_MS = 250;

type Received = LineRest | { readonly failure: Failure };

/** A line that the caller speaks while its later sentences are synthesised. */
export class OpenLine {
  /** Whether the caller has said all ready sentences, and waits for the next one. */
  isAwaited = false;
  /** The spoken part of the line, if its rest was dropped. */
  dropped: string | undefined;
  private readonly received: Received[] = [];
  private isOpen = false;
  private said = '';

  /** The caller begins a line, or continues the open one. */
  say(text: string, hasRest: boolean): void {
    this.said = this.isOpen ? `${this.said} ${text}` : text;
    this.isOpen = hasRest;
    this.dropped = undefined;
  }

  /** Discards what was received so far, which belongs to no later line. */
  forget(): void {
    this.received.length = 0;
  }

  receive(answer: TurnAnswer): void {
    if ('rest' in answer) this.received.push(answer.rest);
    else if ('failure' in answer) this.received.push({ failure: answer.failure });
  }

  /** Whether the line has more to be said. */
  get hasRest(): boolean {
    return this.isOpen;
  }

  /** The next sentence, if it is ready. */
  take(): Received | undefined {
    return this.isOpen ? this.received.shift() : undefined;
  }

  /** Receives a ready sentence. */
  takeSentence(): LineRest | undefined {
    const [first] = this.received;
    return first && !('failure' in first) ? (this.take() as LineRest | undefined) : undefined;
  }

  /** Drops the rest of the line, because the agent has taken the turn. */
  drop(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.dropped = this.said;
  }
}
