import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../../platform/access/caller.js';
import { DomainError, invalidInput } from '../../../platform/errors/domain-error.js';
import { Readiness } from '../../../platform/observability/readiness.js';
import { type CallRow, CallsRepository } from '../calls/calls.repository.js';
import type { RunDetails } from '../dto/run.responses.js';
import { hasEnded } from '../run.entity.js';
import { RunsService } from '../runs.service.js';
import { RunWatcher } from './run-watcher.js';

const POLL_MS = 500;
/** A sign of life, so that proxies keep the connection. */
const HEARTBEAT_MS = 15_000;
/** Each costs a query every half second. */
const MAX_STREAMS_PER_WORKSPACE = 100;

/** Follows runs as server-sent events (WHATWG HTML, 9.2). */
@Injectable()
export class RunEventsService {
  private readonly open = new Map<string, number>();
  /** Shared by the streams of a run: counting ten thousand calls for each of a hundred streams would keep the database busy. */
  private readonly latest: LRUCache<string, RunDetails, () => Promise<RunDetails>>;

  constructor(
    private readonly runs: RunsService,
    private readonly calls: CallsRepository,
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
   * The stream of a run's progress: `run` with its counts at the beginning, at every change and at the end, `call` with
   * every call whose state has changed. It ends with the run; of one that has ended, the calls come first. A call may be told of twice after a resumption.
   * @param lastEventId the last id that the client has got, if it resumes
   * @throws DomainError NOT_FOUND or FORBIDDEN of the run; BAD_REQUEST of the id; TOO_MANY_REQUESTS
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
    return this.stream(caller, run, since, signal, this.take(workspaceId, signal));
  }

  /** Counts a stream of the workspace until the signal fires or the returned function is called. */
  private take(workspaceId: string, signal: AbortSignal): () => void {
    this.open.set(workspaceId, (this.open.get(workspaceId) ?? 0) + 1);
    let isOpen = true;
    const free = () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.open.get(workspaceId) ?? 1) - 1;
      if (left > 0) this.open.set(workspaceId, left);
      else this.open.delete(workspaceId);
    };
    // The stream of a client that has left before its beginning is never read, and so does not end either.
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
    const told = new Map<string, string>();
    let run = first;
    let since = from;
    let lastRun = '';
    let isOver = false;
    let quietSince = performance.now();
    try {
      if (!hasEnded(first.status)) {
        lastRun = JSON.stringify(first);
        yield `event: run\ndata: ${lastRun}\n\n`;
      }
      while (!signal.aborted) {
        // The run first: once it has ended, everything before its end is among the changes.
        if (lastRun !== '') {
          // Of a run that is over by now, what was read before does not count.
          run = await this.latest.forceFetch(`${first.id} ${isOver}`, {
            context: () => this.runs.get(caller, first.id),
          });
        }
        // Page by page: a client that does not read keeps the server from reading on.
        for await (const { calls, horizon, isLast } of this.calls.changedSince(run.id, since)) {
          const text = this.text(calls, told, isLast ? { run, lastRun, horizon } : undefined);
          if (isLast) since = horizon;
          if (text === '') continue;
          quietSince = performance.now();
          yield text;
        }
        forgetBefore(since, told);
        lastRun = JSON.stringify(run);
        if (performance.now() - quietSince > HEARTBEAT_MS) {
          quietSince = performance.now();
          yield ': still here\n\n';
        }
        if (hasEnded(run.status) || this.readiness.isShuttingDown) return;
        isOver = await this.watcher.untilEnded(run.id, POLL_MS, signal);
      }
    } finally {
      free();
    }
  }

  /** @param end of the last page: with it the run, if it has changed, and the id from which to resume */
  private text(
    calls: readonly CallRow[],
    told: Map<string, string>,
    end: { readonly run: RunDetails; readonly lastRun: string; readonly horizon: bigint } | undefined,
  ): string {
    const fresh = calls.filter(({ id, changedIn }) => told.get(id) !== changedIn);
    for (const { id, changedIn } of fresh) told.set(id, changedIn);
    const events = fresh.map((call) => ({ event: 'call', data: JSON.stringify(toEvent(call)) }));
    const data = end && JSON.stringify(end.run);
    if (data !== undefined && data !== end?.lastRun) events.push({ event: 'run', data });
    // Only the last one has an id: a client that gets no further resumes before all of them.
    return events
      .map(({ event, data: line }, index) => {
        const id = end && index === events.length - 1 ? `id: ${end.horizon}\n` : '';
        return `event: ${event}\n${id}data: ${line}\n\n`;
      })
      .join('');
  }
}

/** What changed before the horizon is not read again. */
function forgetBefore(horizon: bigint, told: Map<string, string>): void {
  for (const [id, changedIn] of told) if (BigInt(changedIn) < horizon) told.delete(id);
}

/** @throws DomainError BAD_REQUEST */
function parseId(id: string | undefined): bigint {
  if (id === undefined || id === '') return 0n;
  if (!/^\d{1,18}$/.test(id)) throw invalidInput('Last-Event-ID must be an id that this stream has sent');
  return BigInt(id);
}

const toEvent = (call: CallRow) => ({
  id: call.id,
  evaluationId: call.evaluationId,
  evaluationName: call.evaluationName,
  repetition: call.repetition,
  status: call.status,
  outcome: call.outcome,
  score: call.score,
  reason: call.reason,
  attempts: call.attempts.length,
});
