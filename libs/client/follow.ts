import { setTimeout as sleep } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { CommandError, UnreachableError } from './errors.js';
import { isFinalRefusal, type RunDetails, type Service } from './service.js';

/** What the service tells of a call (`event: call`). */
export interface CallEvent {
  readonly id: string;
  readonly evaluationName: string;
  readonly repetition: number;
  readonly status: 'QUEUED' | 'RUNNING' | 'ENDED' | 'CANCELLED';
  readonly outcome: 'passed' | 'failed' | 'invalid' | 'error' | null;
  readonly score: number | null;
  readonly reason: string | null;
}

export type RunEvent =
  | { readonly type: 'run'; readonly run: RunDetails }
  | { readonly type: 'call'; readonly call: CallEvent }
  /** Something the reader should know about the connection. */
  | { readonly type: 'note'; readonly text: string };

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Milliseconds of silence after which a connection counts as dead; the service gives a sign of life every 15 s. */
  readonly silenceMs?: number;
  /** Milliseconds after which a service that tells nothing more is given up. */
  readonly patienceMs?: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Seconds of one wait, where events cannot be had. */
const POLL_SECONDS = 5;

export const hasEnded = ({ status }: RunDetails): boolean => status !== 'QUEUED' && status !== 'RUNNING';

/**
 * Tells of a run until its end, the last event being of the ended run. A broken connection is resumed where it broke;
 * where no events can be had, the run is asked for again and again. A call may be told of twice.
 * @throws CommandError when the service refuses or stays out of reach; the signal's reason
 */
export async function* follow(service: Service, runId: string, options: FollowOptions): AsyncGenerator<RunEvent> {
  const { signal, silenceMs = 60_000, patienceMs = 120_000 } = options;
  let lastEventId: string | undefined;
  let heardAt = performance.now();
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    const silence = new AbortController();
    const since = performance.now();
    try {
      const stream = await service.events(runId, lastEventId, AbortSignal.any([signal, silence.signal]));
      for await (const { event, data, id } of messages(stream, silence, silenceMs)) {
        heardAt = performance.now();
        const told = eventOf(event, data);
        if (told) yield told;
        if (told?.type === 'run' && hasEnded(told.run)) return;
        lastEventId = id ?? lastEventId;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CommandError && !(error instanceof UnreachableError)) {
        // Refused for good, or no events for now: the run itself tells which.
        if (isFinalRefusal(error)) await service.run(runId, undefined, signal);
        yield { type: 'note', text: `No events to be had (${error.message}); asking for the run instead.` };
        yield* poll(service, runId, signal);
        return;
      }
      if (performance.now() - heardAt > patienceMs) throw error;
    }
    signal.throwIfAborted();
    yield { type: 'note', text: 'The connection broke; resuming.' };
    await sleep(pause, undefined, { signal });
    pause = heardAt - since > LONGEST_PAUSE_MS ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pause * 2);
  }
}

/** @param silence is aborted when nothing was heard for so long */
async function* messages(stream: ReadableStream<Uint8Array>, silence: AbortController, silenceMs: number) {
  const timer = setTimeout(() => silence.abort(), silenceMs);
  // Comments are signs of life too, so the bytes are watched and not the events.
  const watched = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      timer.refresh();
      controller.enqueue(chunk);
    },
  });
  try {
    yield* (
      stream
        .pipeThrough(watched)
        // Node's types of the two streams disagree on the kind of buffer.
        .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
        .pipeThrough(new EventSourceParserStream())
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Events of later versions of the service are passed over. */
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
