import { Logger } from '@nestjs/common';
import type { CountQuestion, SupervisorChannel, ToWorker } from '../cluster/messages.js';
import type { Beginning, CounterLink, SharedCount } from './counter-link.js';

/**
 * How long the supervisor may take for an answer, in milliseconds; it is waited for once, and then no more until it
 * answers again. Longer than for Redis: it is on this machine, and when it is gone this process ends by itself.
 */
export const SUPERVISOR_TIMEOUT_MS = 1_000;
/** How often a supervisor that did not answer is asked again, in milliseconds. */
const RETRY_MS = 500;

interface Waiting {
  readonly question: CountQuestion;
  readonly resolve: (count: SharedCount) => void;
  readonly reject: (error: Error) => void;
}

/** Asks the supervisor for counters, once in a turn of the event loop for all requests that came in it. */
export class SupervisorLink implements CounterLink {
  private readonly logger = new Logger('RateLimits');
  private isUp = true;
  private generations = 1;
  private batches = 0;
  private next: Waiting[] = [];
  private readonly sent = new Map<number, { readonly waiting: Waiting[]; readonly timer: NodeJS.Timeout }>();
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly channel: SupervisorChannel) {
    channel.onMessage((message) => {
      if (message.kind === 'counted') this.receive(message);
    });
  }

  get generation(): number | undefined {
    return this.isUp ? this.generations : undefined;
  }

  /** The channel is there from the first moment on. */
  open(): Promise<void> {
    return Promise.resolve();
  }

  count(key: string, points: number, beginning: Beginning): Promise<SharedCount> {
    return new Promise((resolve, reject) => {
      if (!this.isUp) return reject(new Error('The supervisor is away'));
      this.next.push({ question: [key, points, beginning], resolve, reject });
      if (this.next.length === 1) setImmediate(() => this.send());
    });
  }

  close(): void {
    clearInterval(this.retry);
  }

  private send(): void {
    const waiting = this.next;
    this.next = [];
    // Refused meanwhile.
    if (waiting.length === 0) return;
    const batch = (this.batches += 1);
    const timer = setTimeout(() => {
      // One more turn of the event loop: if this process was the slow one, the answer is there and only unread.
      setImmediate(() => {
        if (this.sent.has(batch)) this.lose();
      });
    }, SUPERVISOR_TIMEOUT_MS);
    this.sent.set(batch, { waiting, timer });
    this.channel.send({ kind: 'count', batch, questions: waiting.map(({ question }) => question) });
  }

  private receive({ batch, counts }: Extract<ToWorker, { kind: 'counted' }>): void {
    const sent = this.sent.get(batch);
    this.sent.delete(batch);
    clearTimeout(sent?.timer);
    sent?.waiting.forEach(({ resolve, reject }, index) => {
      const count = counts[index];
      if (count) resolve(count);
      else reject(new Error('The supervisor has not answered all that it was asked'));
    });
    if (!this.isUp) this.comeBack();
  }

  private lose(): void {
    this.isUp = false;
    this.logger.warn(
      `The supervisor has not answered within ${SUPERVISOR_TIMEOUT_MS} ms: ` +
        'rate limits are counted in this process until it does',
    );
    const waiting = [...this.sent.values()].flatMap((batch) => batch.waiting).concat(this.next);
    for (const { timer } of this.sent.values()) clearTimeout(timer);
    this.sent.clear();
    this.next = [];
    for (const { reject } of waiting) reject(new Error('The supervisor is away'));
    // Nothing to count: any answer will do, a late one as well.
    this.retry = setInterval(() => this.channel.send({ kind: 'count', batch: 0, questions: [] }), RETRY_MS);
    this.retry.unref();
  }

  private comeBack(): void {
    clearInterval(this.retry);
    this.generations += 1;
    this.isUp = true;
    this.logger.log('The supervisor answers again: rate limits are shared again');
  }
}
