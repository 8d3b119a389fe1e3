import { ThreadLimitExceeded, ThreadPool } from '../../concurrency/index.js';
import { checkSound } from '../check-sound.js';
import { FairQueue } from '../fair-queue.js';
import { requireText, type Sound, SpeechError, type SpeechEngine, type SpeechRequest } from '../sound.js';
import { untilAborted } from '../until-aborted.js';
import { FLITE_VOICES, isFliteVoice } from './voices.js';
import type { FliteAnswer, FliteTask } from './flite-thread.js';

/** Version of flite's package, and of what is done with its audio here: raise the second number when that changes. */
export const FLITE_VERSION = '0.1.1/1';

/** A text of the greatest length takes less than half of it on a busy machine. */
const TIMEOUT_MS = 60_000;
const IDLE_MS = 60_000;
const MIN_RATE = 0.5;
const MAX_RATE = 2;
const ATTEMPTS = 2;

/**
 * The embedded English voices: flite, compiled to WebAssembly, in a worker thread. Needs no network, no key and no file but
 * its own; the same request always yields the same samples.
 */
export class FliteEngine implements SpeechEngine {
  readonly name = 'flite';
  readonly version = FLITE_VERSION;
  /** One thread for the process, since a second one would take processor time from calls. */
  private readonly threads: ThreadPool<FliteTask, FliteAnswer>;
  private readonly queue = new FairQueue();

  constructor({ timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS }: { timeoutMs?: number; idleMs?: number } = {}) {
    const entry = new URL('./flite-thread.js', import.meta.url);
    this.threads = new ThreadPool({ entry, threads: 1, timeoutMs, idleMs });
  }

  async synthesise(request: SpeechRequest, signal?: AbortSignal): Promise<Sound> {
    const task = taskOf(request);
    signal?.throwIfAborted();
    const turn = this.queue.run(request.owner ?? '', async () => {
      signal?.throwIfAborted();
      return this.attempt(task);
    });
    return untilAborted(turn, signal);
  }

  /** Ends the thread; requests in progress fail. */
  async close(): Promise<void> {
    await this.threads.close();
  }

  private async attempt(task: FliteTask, attempt = 1): Promise<Sound> {
    try {
      const answer = await this.run(task);
      if ('failure' in answer) throw new SpeechError(answer.failure, task.text, answer.reason);
      checkSound(answer.sound, task);
      return answer.sound;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      return this.attempt(task, attempt + 1);
    }
  }

  private async run(task: FliteTask): Promise<FliteAnswer> {
    try {
      return await this.threads.run(task);
    } catch (error) {
      const failure = error instanceof ThreadLimitExceeded ? 'timeout' : 'engine';
      throw new SpeechError(failure, task.text, error instanceof Error ? error.message : String(error));
    }
  }
}

/** @throws SpeechError if this engine cannot speak the request */
function taskOf({ text, voice, rate = 1 }: SpeechRequest): FliteTask {
  const refuse = (reason: string) => new SpeechError('request', text, reason);
  requireText(text);
  if (!isFliteVoice(voice)) {
    throw refuse(`there is no embedded voice "${voice}", only ${Object.keys(FLITE_VOICES).join(', ')}`);
  }
  if (!(rate >= MIN_RATE && rate <= MAX_RATE)) throw refuse(`the rate must be ${MIN_RATE} to ${MAX_RATE}`);
  return { text, voice, rate };
}
