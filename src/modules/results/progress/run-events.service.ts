import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../../platform/access/caller.js';
import { DomainError, invalidInput } from '../../../platform/errors/domain-error.js';
import { Readiness } from '../../../platform/observability/readiness.js';
import { type CallRow, CallsService } from '../../calls/calls.service.js';
import type { RunDetails } from '../../runs/dto/run.responses.js';
import { hasEnded, RunsService } from '../../runs/runs.service.js';
import { RunWatcher } from '../../runs/run-watcher.service.js';

const POLL_MS = 500;
/** Interval of comments that keep the connection open through proxies. */
const HEARTBEAT_MS = 15_000;
/** Each stream costs a query every half second. */
const MAX_STREAMS_PER_WORKSPACE = 100;

/** Streams the progress of runs as server-sent events (WHATWG HTML, 9.2). */
@Injectable()
export class RunEventsService {
  private readonly open = new Map<string, number>();
  /** Shared by the streams of a run, because counting thousands of calls for every stream is expensive. */
  private readonly latest: LRUCache<string, RunDetails, () => Promise<RunDetails>>;

  constructor(
    private readonly runs: RunsService,
    private readonly calls: CallsService,
    private readonly watcher: RunWatcher,
    private readonly readiness: Readiness,
  ) {
    this.latest = new LRUCache({
      max: 1_000,
      ttl: POLL_MS / 2,
      fetchMethod: (_key, _stale, { context: read }) => read(),
    });
  }

  /**
   * The stream of a run's progress: `run` with its counts at the start, on every change and at the end; `call` for every
   * call that changed. The stream ends with the run, or when the signal aborts. For a run that has already ended, the calls come first. After
   * resuming, a call may be sent twice.
   * @param lastEventId last id that the client received, to resume a stream
   * @throws DomainError NOT_FOUND or FORBIDDEN for the run; BAD_REQUEST for the id; TOO_MANY_REQUESTS
   */
  async follow(
    caller: Caller,
    runId: string,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<string>> {
    const since = parseId(lastEventId);
    const run = await this.runs.get(caller, runId);
    const { workspaceId } = caller;
    const open = this.open.get(workspaceId) ?? 0;
    if (open >= MAX_STREAMS_PER_WORKSPACE) {
      throw new DomainError('TOO_MANY_REQUESTS', 'Too many event streams of the workspace are open');
    }
    return this.stream(caller, run, since, signal, this.countStream(workspaceId, signal));
  }

  /** Counts a stream of the workspace until the signal fires or the returned function is called. */
  private countStream(workspaceId: string, signal: AbortSignal): () => void {
    this.open.set(workspaceId, (this.open.get(workspaceId) ?? 0) + 1);
    let isOpen = true;
    const free = () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.open.get(workspaceId) ?? 1) - 1;
      if (left > 0) this.open.set(workspaceId, left);
      else this.open.delete(workspaceId);
    };
    // If the client has already disconnected, the stream is never read and its `finally` never runs.
    if (signal.aborted) free();
    else signal.addEventListener('abort', free, { once: true });
    return free;
  }

  private async *stream(
    caller: Caller,
    first: RunDetails,
    from: bigint,
    signal: AbortSignal,
    free: () => void,
  ): AsyncGenerator<string> {
    const sent = new Map<string, string>();
    let run = first;
    let since = from;
    let lastRun = '';
    let isOver = false;
    let lastSentAt = performance.now();
    try {
      if (!hasEnded(first.status)) {
        lastRun = JSON.stringify(first);
        yield `event: run\ndata: ${lastRun}\n\n`;
      }
      while (!signal.aborted) {
        // Read before the calls: once the run has ended, no later change is missed.
        if (lastRun !== '') {
          // `isOver` in the key, so that an ended run is not read from the cache.
          run = await this.latest.forceFetch(`${first.id} ${isOver}`, {
            context: () => this.runs.get(caller, first.id),
          });
        }
        // Page by page, so that a slow client applies backpressure.
        for await (const { calls, horizon, isLast } of this.calls.changedSince(caller, run.id, since)) {
          const text = this.text(calls, sent, isLast ? { run, lastRun, horizon } : undefined);
          if (isLast) since = horizon;
          if (text === '') continue;
          lastSentAt = performance.now();
          yield text;
          if (signal.aborted) break;
        }
        if (signal.aborted) break;
        forgetBefore(since, sent);
        lastRun = JSON.stringify(run);
        if (performance.now() - lastSentAt > HEARTBEAT_MS) {
          lastSentAt = performance.now();
          yield ': heartbeat\n\n';
        }
        if (hasEnded(run.status) || this.readiness.isShuttingDown) return;
        isOver = await this.watcher.untilEnded(run.id, POLL_MS, signal);
      }
      if (signal.reason instanceof DomainError) yield `: ${signal.reason.message}\n\n`;
    } catch (error) {
      // Deleted in the meantime.
      if (!isNotFound(error)) throw error;
    } finally {
      free();
    }
  }

  /** @param end for the last page only: adds the run, if it has changed, and the id to resume from */
  private text(
    calls: readonly CallRow[],
    sent: Map<string, string>,
    end: { readonly run: RunDetails; readonly lastRun: string; readonly horizon: bigint } | undefined,
  ): string {
    const fresh = calls.filter(({ id, changedIn }) => sent.get(id) !== changedIn);
    for (const { id, changedIn } of fresh) sent.set(id, changedIn);
    const events = fresh.map((call) => ({ event: 'call', data: JSON.stringify(toEvent(call)) }));
    const data = end && JSON.stringify(end.run);
    if (data !== undefined && data !== end?.lastRun) events.push({ event: 'run', data });
    // Only the last event has an id, so that a client that was interrupted before it receives all of them again.
    return events
      .map(({ event, data: line }, index) => {
        const id = end && index === events.length - 1 ? `id: ${end.horizon}\n` : '';
        return `event: ${event}\n${id}data: ${line}\n\n`;
      })
      .join('');
  }
}

const isNotFound = (error: unknown) => error instanceof DomainError && error.code === 'NOT_FOUND';

/** Changes before the horizon are not read again. */
function forgetBefore(horizon: bigint, sent: Map<string, string>): void {
  for (const [id, changedIn] of sent) if (BigInt(changedIn) < horizon) sent.delete(id);
}

/** @throws DomainError BAD_REQUEST */
function parseId(id: string | undefined): bigint {
  if (id === undefined || id === '') return 0n;
  if (!/^\d{1,18}$/.test(id)) throw invalidInput('Last-Event-ID must be an id sent by this stream');
  return BigInt(id);
}

const toEvent = (call: CallRow) => ({
  id: call.id,
  evaluationId: call.evaluationId,
  evaluationName: call.evaluationName,
  caseKey: call.caseKey,
  variables: call.variables,
  repetition: call.repetition,
  status: call.status,
  outcome: call.outcome,
  score: call.score,
  reason: call.reason,
  attempts: call.attempts.length,
});
