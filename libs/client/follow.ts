import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { CommandError, UnreachableError } from './errors.js';
import { isFinalRefusal } from './requests.js';
import type { RunDetails, Service } from './service.js';

/** State of a call (`event: call`). */
export interface CallEvent {
  readonly id: string;
  readonly evaluationName: string;
  readonly caseKey: string;
  readonly variables: Readonly<Record<string, string | number | boolean>> | null;
  readonly repetition: number;
  readonly status: 'QUEUED' | 'RUNNING' | 'ENDED' | 'CANCELLED';
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error' | null;
  readonly score: number | null;
  readonly reason: string | null;
}

export type RunEvent =
  | { readonly type: 'run'; readonly run: RunDetails }
  | { readonly type: 'call'; readonly call: CallEvent }
  /** A message about the connection. */
  | { readonly type: 'note'; readonly text: string };

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without data after which the connection counts as lost; the service sends a comment every 15 s. */
  readonly silenceMs?: number;
  /** Milliseconds without events after which following fails, or polls the run if it is the stream that ends. */
  readonly patienceMs?: number;
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** Seconds of one long poll if events are not available. */
const POLL_SECONDS = 5;

export const hasEnded = ({ status }: RunDetails): boolean => status !== 'QUEUED' && status !== 'RUNNING';

/**
 * Yields the events of a run until its end; the last event is the ended run. Resumes lost connections, and polls the run
 * if events are not available. An event of a call may be repeated.
 * @throws CommandError if the service refuses or stays unreachable; the signal's reason
 */
export async function* follow(service: Service, runId: string, options: FollowOptions): AsyncGenerator<RunEvent> {
  const { signal, silenceMs = 60_000, patienceMs = 120_000 } = options;
  let lastEventId: string | undefined;
  let lastDataAt = performance.now();
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const silence = new AbortController();
    const since = performance.now();
    try {
      const over = AbortSignal.any([signal, silence.signal]);
      const stream = await service.events(runId, lastEventId, over);
      for await (const { event, data, id } of messages(stream, over, silence, silenceMs)) {
        const runEvent = eventOf(event, data);
        lastDataAt = performance.now();
        if (runEvent) yield runEvent;
        if (runEvent?.type === 'run' && hasEnded(runEvent.run)) return;
        lastEventId = id ?? lastEventId;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CommandError && !(error instanceof UnreachableError)) {
        // Throws if the run itself is refused.
        if (isFinalRefusal(error)) await service.run(runId, undefined, signal);
        yield { type: 'note', text: `Events are not available (${error.message}); polling the run instead.` };
        yield* poll(service, runId, signal);
        return;
      }
      if (performance.now() - lastDataAt > patienceMs) throw error;
    }
    signal.throwIfAborted();
    if (performance.now() - lastDataAt > patienceMs) {
      yield { type: 'note', text: 'The stream of events ends without events; polling the run instead.' };
      yield* poll(service, runId, signal);
      return;
    }
    yield { type: 'note', text: 'Connection lost; resuming.' };
    await sleep(pause, undefined, { signal });
    pause = lastDataAt - since > MAX_PAUSE_MS ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, pause * 2);
  }
}

/**
 * @param over ends the stream: after a garbage collection the signal of a Request no longer does
 * @param silence is aborted after `silenceMs` without data
 */
async function* messages(
  stream: ReadableStream<Uint8Array>,
  over: AbortSignal,
  silence: AbortController,
  silenceMs: number,
) {
  const timer = setTimeout(() => silence.abort(), silenceMs);
  // Comments count too, so bytes are observed instead of events.
  const watched = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      timer.refresh();
      controller.enqueue(chunk);
    },
  });
  try {
    yield* (
      stream
        .pipeThrough(watched, { signal: over })
        // Node's types of the two streams disagree on the kind of buffer.
        .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
        .pipeThrough(new EventSourceParserStream())
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Ignores unknown events, which later versions of the service may send. */
function eventOf(event: string | undefined, data: string): RunEvent | undefined {
  if (event === 'run') return { type: 'run', run: JSON.parse(data) as RunDetails };
  if (event === 'call') return { type: 'call', call: JSON.parse(data) as CallEvent };
  return undefined;
}

async function* poll(service: Service, runId: string, signal: AbortSignal): AsyncGenerator<RunEvent> {
  for (let run = await service.run(runId, undefined, signal); ;) {
    yield { type: 'run', run };
    if (hasEnded(run)) return;
    run = await service.run(runId, POLL_SECONDS, signal);
  }
}
