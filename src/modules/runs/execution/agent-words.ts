import { Inject, Injectable, Logger } from '@nestjs/common';
import type { EvaluationDefinition } from '../../../../libs/evaluation-definition/index.js';
import { needsWords, PROTOCOLS, type VoiceOptions } from '../../../../libs/simulation/index.js';
import { HttpRecogniser, type ObservedTranscription } from '../../../../libs/speech/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import type { TranscriptionSetting } from '../../../platform/config/transcription-settings.js';
import { operatorClient } from '../../../platform/outbound/operator-client.js';
import type { CalledEndpoint } from '../../agents/connection/connection.service.js';
import { CallMetrics } from './call-metrics.js';
import { FailureRate } from './failure-rate.js';

/** The transcription server of the operator: one recogniser for all calls of this process. */
@Injectable()
export class AgentWords {
  private readonly logger = new Logger('Transcription');
  private readonly recogniser: HttpRecogniser | undefined;
  private readonly failures = new FailureRate();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly metrics: CallMetrics,
  ) {
    const { transcription } = settings;
    this.recogniser = transcription && this.recogniserOf(transcription);
  }

  /** How the agent's words on a voice call are transcribed; undefined if nothing may be sent to the server. */
  options(
    { protocol, transcription: mode }: Pick<CalledEndpoint, 'protocol' | 'transcription'>,
    definition: EvaluationDefinition,
  ): VoiceOptions['transcription'] {
    const { recogniser } = this;
    const { transcription: server, languageModel } = this.settings;
    if (!recogniser || !server || mode === 'off') return undefined;
    if (mode === 'auto' && PROTOCOLS.of(protocol).provides.words) return undefined;
    const needed = server.isAlways || needsWords(definition, languageModel !== undefined);
    return { recogniser, mode, model: server.model ?? null, needed };
  }

  private recogniserOf({ baseUrl, apiKey, model, concurrency }: TranscriptionSetting): HttpRecogniser {
    return new HttpRecogniser({
      baseUrl,
      concurrency,
      outbound: operatorClient(),
      onTranscription: (transcription) => this.observe(transcription),
      ...(apiKey !== undefined && { apiKey }),
      ...(model !== undefined && { model }),
    });
  }

  private observe(transcription: ObservedTranscription): void {
    this.metrics.observeTranscription(transcription);
    const high = this.failures.add(transcription.outcome === 'failed');
    if (!high) return;
    this.logger.warn(
      `${high.failed} of the latest ${high.requests} requests to the transcription server (STT_BASE_URL) failed: calls that need words end as error`,
    );
  }
}
