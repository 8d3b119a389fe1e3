import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';
import {
  type CallResult,
  mediaThreads,
  type ProtocolName,
  PROTOCOLS,
  RECORDING,
} from '../../../libs/simulation/index.js';
import { type ObservedTranscription, TRANSCRIPTION_OUTCOMES } from '../../../libs/speech/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Metrics } from '../../platform/observability/metrics.js';
import type { WaitingCalls } from './execution.repository.js';

const PROTOCOL_NAMES = PROTOCOLS.names;
const OUTCOMES = ['passed', 'failed', 'invalid', 'error', 'interrupted'] as const;
/** How long a scrape waits for the media threads, of which one may be blocked; the last figure is served then. */
const MEMORY_TIMEOUT_MS = 1_000;

/** Prometheus metrics of calls, in processes that execute them. docs/production.md has a table of all. */
@Injectable()
export class CallMetrics {
  private readonly inProgress: Gauge<'protocol'>;
  private readonly ended: Counter<'protocol' | 'outcome'>;
  private readonly waiting: Gauge<'protocol'>;
  private readonly frameLateness: Histogram<'protocol'>;
  private readonly longestStall: Histogram<'protocol'>;
  private readonly threadDeaths: Counter;
  private readonly unended: Gauge;
  private readonly synthesis: Histogram;
  private readonly modelRequests: Histogram<'outcome'>;
  private readonly transcriptions: Histogram<'outcome'>;
  private readonly transcribedAudio: Counter<'outcome'>;

  constructor({ registry }: Metrics, @Inject(SETTINGS) { role }: Settings) {
    const registers = role === 'api' ? [] : [registry];
    this.inProgress = new Gauge({
      name: 'calls_in_progress',
      help: 'Calls that this process executes',
      labelNames: ['protocol'],
      registers,
    });
    this.ended = new Counter({
      name: 'call_attempts_ended_total',
      help: 'Attempts at calls that have ended in this process',
      labelNames: ['protocol', 'outcome'],
      registers,
    });
    this.waiting = new Gauge({
      name: 'calls_waiting_for_slot',
      help: 'Calls of the database that their runs allow to start and for which no process has a slot',
      labelNames: ['protocol'],
      registers,
    });
    this.frameLateness = new Histogram({
      name: 'call_frame_lateness_p99_seconds',
      help: 'How late the audio frames of a voice call were sent: the 99th percentile of each call',
      labelNames: ['protocol'],
      buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
      registers,
    });
    this.longestStall = new Histogram({
      name: 'call_longest_stall_seconds',
      help: 'The longest time in each call in which this process could not react',
      labelNames: ['protocol'],
      buckets: [0.025, 0.05, 0.1, 0.2, 0.5, 1, 5],
      registers,
    });
    this.threadDeaths = new Counter({
      name: 'voice_calls_thread_deaths_total',
      help: 'Threads that carried the audio of voice calls of this process and ended unexpectedly',
      registers,
    });
    this.unended = new Gauge({
      name: 'platform_calls_unended',
      help: 'Calls that their platform may still carry and bill, because three requests to end them have failed',
      registers,
    });
    this.synthesis = new Histogram({
      name: 'speech_synthesis_duration_seconds',
      help: 'Time until the speech engine provides a line that is not in the cache',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.modelRequests = new Histogram({
      name: 'language_model_request_duration_seconds',
      help: 'Duration of requests to the language model that plays callers and judges',
      labelNames: ['outcome'],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30],
      registers,
    });
    this.transcriptions = new Histogram({
      name: 'transcription_duration_seconds',
      help: 'Time in which the transcription server transcribed a piece of audio of an agent, second tries included',
      labelNames: ['outcome'],
      buckets: [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 15, 30],
      registers,
    });
    this.transcribedAudio = new Counter({
      name: 'transcription_audio_seconds_total',
      help: 'Length of the audio of agents that was sent to the transcription server',
      labelNames: ['outcome'],
      registers,
    });
    new Gauge({
      name: 'voice_calls_memory_bytes',
      help: 'Memory of the threads that carry the audio of the voice calls of this process',
      registers,
      async collect() {
        const timeout = sleep(MEMORY_TIMEOUT_MS, undefined, { ref: false });
        const bytes = await Promise.race([mediaThreads.memoryBytes(), timeout]);
        if (bytes !== undefined) this.set(bytes);
      },
    });
    // From the start, so that the first value is an increase.
    for (const outcome of TRANSCRIPTION_OUTCOMES) this.transcribedAudio.inc({ outcome }, 0);
    for (const protocol of PROTOCOL_NAMES) {
      this.inProgress.set({ protocol }, 0);
      for (const outcome of OUTCOMES) this.ended.inc({ protocol, outcome }, 0);
    }
  }

  /**
   * Executes an attempt at a call and observes it.
   * @throws what `execute` throws
   */
  async observe(protocol: ProtocolName, signal: AbortSignal, execute: () => Promise<CallResult>): Promise<CallResult> {
    this.inProgress.inc({ protocol });
    let outcome: (typeof OUTCOMES)[number] = 'error';
    try {
      const result = await execute();
      outcome = result.outcome;
      const { frameLatenessMs, worstStallMs } = result.reliability;
      if (frameLatenessMs) this.frameLateness.observe({ protocol }, frameLatenessMs.p99 / 1000);
      this.longestStall.observe({ protocol }, worstStallMs / 1000);
      return result;
    } catch (error) {
      if (signal.aborted) outcome = 'interrupted';
      throw error;
    } finally {
      this.ended.inc({ protocol, outcome });
      this.inProgress.dec({ protocol });
    }
  }

  setWaiting(waiting: readonly WaitingCalls[]): void {
    for (const protocol of [...PROTOCOL_NAMES, RECORDING]) this.waiting.set({ protocol }, 0);
    for (const { protocol, calls } of waiting) this.waiting.inc({ protocol }, calls);
  }

  setUnended(calls: number): void {
    this.unended.set(calls);
  }

  readonly countThreadDeath = (): void => this.threadDeaths.inc();

  readonly observeSynthesis = (ms: number): void => this.synthesis.observe(ms / 1000);

  readonly observeModelRequest = (ms: number, outcome: 'answered' | 'failed'): void =>
    this.modelRequests.observe({ outcome }, ms / 1000);

  readonly observeTranscription = ({ outcome, ms, audioMs }: ObservedTranscription): void => {
    this.transcriptions.observe({ outcome }, ms / 1000);
    this.transcribedAudio.inc({ outcome }, audioMs / 1000);
  };
}
