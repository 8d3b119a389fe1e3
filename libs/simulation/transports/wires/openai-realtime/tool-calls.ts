import type { RequestedCall } from './messages.js';

/** Responses and calls of each that are kept: more are a fault of the platform that must not fill the memory. */
const MAX_RESPONSES = 20;
const MAX_CALLS = 50;
/** A call whose item, or a response with results, is not reported as done by then counts as done. */
const GRACE_MS = 1_500;

interface Call {
  readonly id: string;
  since: number;
  name: string;
  json: string;
  /** `held`: its item may still turn out to be incomplete. */
  state: 'held' | 'open' | 'answered';
}

interface Response {
  readonly calls: Map<string, Call>;
  isComplete: boolean;
  /** When the latest result was sent. */
  answeredAt: number;
  /** Whether the agent goes on, or need not. */
  isOver: boolean;
}

/** Tool calls by response. Up to four events have each; it counts once, with the name and arguments of the last of them. */
export class ToolCalls {
  private readonly responses = new Map<string, Response>();

  /** @param isWhole whether its item is done; false: it ended incomplete @param now Infinity if it has only begun @returns it, once its item is done */
  heard(now: number, responseId: string, call: RequestedCall, isWhole?: boolean): Call | undefined {
    const { calls } = this.of(responseId);
    const { id, name, json } = call;
    const known = calls.get(id) ?? { id, since: now, name: '', json: '', state: 'held' };
    if (known.state !== 'held') return undefined;
    Object.assign(known, name && { name }, json && { json });
    known.since = Math.min(known.since, now);
    if (isWhole === false) calls.delete(id);
    else if (calls.size < MAX_CALLS) calls.set(id, known);
    return isWhole ? opened(known) : undefined;
  }

  /** Whether a response has called tools. */
  has(responseId: string): boolean {
    return (this.responses.get(responseId)?.calls.size ?? 0) > 0;
  }

  /** @returns whether the result of a call is awaited */
  answered(now: number, id: string): boolean {
    const open = [...this.responses.values()].findLast(({ calls }) => calls.get(id)?.state === 'open');
    if (!open) return false;
    open.calls.get(id)!.state = 'answered';
    open.answeredAt = now;
    return true;
  }

  /** The response is done. @returns calls of which nothing else was said */
  done(responseId: string, isComplete: boolean): Call[] {
    const response = this.of(responseId);
    Object.assign(response, isComplete ? { isComplete } : { isOver: true });
    const held = [...response.calls.values()].filter(({ state }) => state === 'held');
    // Of one that has only begun, or ended before it was complete, the arguments are not known.
    for (const { id, since } of held) if (!isComplete || since === Infinity) response.calls.delete(id);
    return held.filter(({ id }) => response.calls.has(id)).map(opened);
  }

  /** Calls of which nothing else was said for too long. */
  overdue(now: number): Call[] {
    const calls = [...this.responses.values()].flatMap((response) => [...response.calls.values()]);
    return calls.filter(({ state, since }) => state === 'held' && now - since >= GRACE_MS).map(opened);
  }

  /** Whether the agent is to be asked to go on with the results of a response. */
  isDue(now: number): boolean {
    const due = [...this.responses.values()].find(({ calls, isOver, isComplete, answeredAt }) => {
      const isAnswered = calls.size > 0 && [...calls.values()].every(({ state }) => state === 'answered');
      return !isOver && isAnswered && (isComplete || now - answeredAt >= GRACE_MS);
    });
    // A response that was active when the agent was asked is asked about again when it is done.
    if (due) Object.assign(due, due.isComplete ? { isOver: true } : { answeredAt: Infinity });
    return due !== undefined;
  }

  /** The agent goes on by itself, or the caller has interrupted it. */
  over(): void {
    for (const response of this.responses.values()) response.isOver = true;
  }

  private of(id: string): Response {
    const known = this.responses.get(id);
    if (known) return known;
    const response = { calls: new Map<string, Call>(), isComplete: false, answeredAt: 0, isOver: false };
    this.responses.set(id, response);
    if (this.responses.size > MAX_RESPONSES) this.responses.delete(this.responses.keys().next().value!);
    return response;
  }
}

function opened(call: Call): Call {
  call.state = 'open';
  return call;
}
