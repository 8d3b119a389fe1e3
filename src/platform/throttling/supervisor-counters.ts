import type { CountQuestion } from '../cluster/messages.js';
import type { SharedCount } from './counter-link.js';
import { remaining, Windows } from './windows.js';

/** The counters that the worker processes of one supervisor share: in its memory, by the rules of those in Redis. */
export class SupervisorCounters {
  constructor(private readonly windows = new Windows()) {}

  /** Answers in the order of the questions. */
  answer(questions: readonly CountQuestion[]): SharedCount[] {
    return questions.map((question) => this.count(question));
  }

  private count([key, points, { hits, ttl, resetAt }]: CountQuestion): SharedCount {
    const known = this.windows.find(key);
    if (known === undefined && points === 0) return [hits, ttl, resetAt];
    const window = known ?? this.windows.open(key, ttl, resetAt);
    // Not fewer than the process that asks knows of: while there was no answer it counted by itself.
    window.hits = Math.max(window.hits, hits) + points;
    return [window.hits, remaining(window), window.resetAt];
  }
}
