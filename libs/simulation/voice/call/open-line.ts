import type { Failure } from '../../timeline/failure.js';
import type { LineRest } from '../facts/plan.js';
import type { TurnAnswer } from '../facts/turn-question.js';

/** Between two sentences of a line that are synthesised one after the other. */
export const SENTENCE_PAUSE_MS = 250;

type Received = LineRest | { readonly failure: Failure };

/** A line of the caller that is spoken while its later sentences are synthesised. */
export class OpenLine {
  /** Whether the caller has said all that was ready, and waits. */
  isAwaited = false;
  /** What was said of the line when its rest was dropped. */
  dropped: string | undefined;
  private readonly received: Received[] = [];
  private isOpen = false;
  private said = '';

  /** The caller begins a line, or goes on with the one that has a rest. */
  say(text: string, hasRest: boolean): void {
    this.said = this.isOpen ? `${this.said} ${text}` : text;
    this.isOpen = hasRest;
    this.dropped = undefined;
  }

  /** What was received so far belongs to no line that is still to come. */
  forget(): void {
    this.received.length = 0;
  }

  receive(answer: TurnAnswer): void {
    if ('rest' in answer) this.received.push(answer.rest);
    else if ('failure' in answer) this.received.push({ failure: answer.failure });
  }

  /** Whether more of the line is to be said. */
  get hasRest(): boolean {
    return this.isOpen;
  }

  /** The next sentence, if it is ready. */
  take(): Received | undefined {
    return this.isOpen ? this.received.shift() : undefined;
  }

  /** A sentence that is ready. */
  takeSentence(): LineRest | undefined {
    const [first] = this.received;
    return first && !('failure' in first) ? (this.take() as LineRest | undefined) : undefined;
  }

  /** The agent has taken the turn: what is left is not said. */
  drop(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.dropped = this.said;
  }
}
