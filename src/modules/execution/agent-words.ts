import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { EvaluationDefinition } from '../../../libs/evaluation-definition/index.js';
import {
  type AgentEndpoint,
  needsWords,
  type ProtocolName,
  PROTOCOLS,
  RECORDING,
  type TranscriptionMode,
  type VoiceOptions,
} from '../../../libs/simulation/index.js';
import { HttpRecogniser, probeRecogniser, type Recogniser, WatchedRecogniser } from '../../../libs/speech/index.js';
import { percent } from '../../../libs/text/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import type { TranscriptionSetting } from '../../platform/config/transcription-settings.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { operatorClient } from '../../platform/outbound/operator-client.js';
import { CallMetrics } from './call-metrics.js';
import { CallerVoices } from './caller-voices.js';

/** Whose words are asked for. */
export interface TranscribedCall {
  /** Of the call; `RECORDING` for one that was recorded elsewhere, without a transcript. */
  readonly protocol: ProtocolName;
  /** Of its connection. */
  readonly options?: AgentEndpoint['options'];
  readonly transcription: TranscriptionMode;
}

/** The embedded voice of the probe. */
const VOICE = 'rms';
/** Shares of wrong words of the probe: equal runs of a good model differ by less than the first. */
const WRONG = { warned: 0.15, unusable: 0.4 } as const;
/** A script whose caller needs no words of the agent. */
const NOTHING_SAID = { end: 'Nothing is said' };
const DAY_MS = 24 * 60 * 60 * 1_000;

/** The transcription server of the operator: one recogniser for all calls of this process. */
@Injectable()
export class AgentWords implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Transcription');
  private readonly recogniser: Recogniser | undefined;
  private readonly shutdown = new AbortController();
  /** Of the latest probe that has not failed, on the clock of `performance`. */
  private probedAt = -Infinity;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly metrics: CallMetrics,
    private readonly voices: CallerVoices,
  ) {
    const { transcription } = settings;
    this.recogniser = transcription && this.recogniserOf(transcription);
  }

  /** A worker does not wait for the probe. */
  onApplicationBootstrap(): void {
    if (this.recogniser && this.settings.role !== 'api') void this.probe(this.recogniser);
  }

  onApplicationShutdown(): void {
    this.shutdown.abort();
  }

  /**
   * How the agent's words on a voice call are transcribed; undefined if nothing may be sent to the server. The first call
   * of a day that needs words, and the first one after a failed probe, probe the server, and do not wait for that.
   */
  options(
    { protocol, options, transcription: mode }: TranscribedCall,
    definition: EvaluationDefinition,
  ): VoiceOptions['transcription'] {
    const { recogniser } = this;
    const { transcription: server, languageModel } = this.settings;
    if (!recogniser || !server || mode === 'off') return undefined;
    const isRecorded = protocol === RECORDING;
    if (mode === 'auto' && !isRecorded && PROTOCOLS.of(protocol, options).provides.words) return undefined;
    const judged = languageModel ? definition : { ...definition, criteria: [] };
    // What the caller of a recording said was not decided by the evaluation.
    if (!server.isAlways && !needsWords(isRecorded ? { ...judged, script: [NOTHING_SAID] } : judged)) return undefined;
    if (performance.now() - this.probedAt >= DAY_MS) void this.probe(recogniser);
    return { recogniser, mode, model: server.model ?? null, needed: true };
  }

  private recogniserOf({ baseUrl, proxy, apiKey, model, concurrency }: TranscriptionSetting): Recogniser {
    const server = new HttpRecogniser({
      baseUrl,
      setting: 'STT_BASE_URL',
      concurrency,
      outbound: operatorClient(),
      proxy,
      onTranscription: this.metrics.observeTranscription,
      ...(apiKey !== undefined && { apiKey }),
      ...(model !== undefined && { model }),
    });
    return new WatchedRecogniser(server, ({ failed, requests }) =>
      this.logger.warn(
        `${failed} of the latest ${requests} requests to the transcription server (STT_BASE_URL) failed; voice calls that depend on words end as error`,
      ),
    );
  }

  private async probe(recogniser: Recogniser): Promise<void> {
    const { signal } = this.shutdown;
    this.probedAt = performance.now();
    try {
      const { said, heard, wrongShare, hasTimes } = await probeRecogniser(recogniser, {
        speech: this.voices.embedded,
        voice: VOICE,
        signal,
      });
      const result = `"${said}" was heard as ${heard === null ? 'nothing' : JSON.stringify(heard)}`;
      const times = hasTimes ? '' : '; it gives no times of words';
      if (wrongShare < WRONG.warned) return this.logger.log(`The transcription server works: ${result}${times}`);
      const found = wrongShare < WRONG.unusable ? 'makes many mistakes' : 'is not usable for calls in English';
      const wrong = `${percent(wrongShare)} of the words are wrong (replaced, missing or added)`;
      this.logger.warn(`The transcription server ${found}: ${wrong}: ${result}. Check STT_MODEL`);
    } catch (error) {
      this.probedAt = -Infinity;
      if (signal.aborted) return;
      this.logger.warn(`The transcription server was probed in vain: ${messageOf(error)}`);
    }
  }
}
