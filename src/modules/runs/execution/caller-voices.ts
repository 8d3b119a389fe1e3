import path from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  babbleLoop,
  CachedSpeech,
  FliteEngine,
  soundOf,
  type SpeechEngine,
  voiceOf,
} from '../../../../libs/speech/index.js';
import type { EvaluationDefinition } from '../../../../libs/evaluation-definition/index.js';
import type { VoiceOptions } from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import type { CallerVoice } from '../run-evaluation.entity.js';
import { messageOf } from '../../../platform/errors/message-of.js';
import { CallMetrics } from './call-metrics.js';

/** The fields of a personality that says nothing about its voice. */
const DEFAULT_VOICE: CallerVoice = {
  gender: 'FEMALE',
  accent: '',
  voice_id: '',
  provider: 'PERSONALITY_PROVIDER_1',
  backgroundNoise: false,
};

/** The voices of simulated callers, synthesised in this process and cached in DATA_DIR. */
@Injectable()
export class CallerVoices implements OnApplicationShutdown {
  private readonly logger = new Logger('Speech');
  private readonly engine = new FliteEngine();
  private readonly speech: CachedSpeech;
  private babble: Promise<Int16Array> | undefined;

  constructor(@Inject(SETTINGS) { dataDir }: Settings, metrics: CallMetrics) {
    this.speech = new CachedSpeech(this.engine, {
      folder: path.resolve(dataDir, 'speech'),
      onFileError: (error) => this.logger.warn(`The cache of speech cannot be used: ${messageOf(error)}`),
      onSynthesis: metrics.observeSynthesis,
    });
  }

  /** The engine of the embedded voices. */
  get embedded(): SpeechEngine {
    return this.speech;
  }

  /** What a call of this personality needs beside its evaluation. Workspaces take turns at the speech engine. */
  async options(
    workspaceId: string,
    voice: CallerVoice = DEFAULT_VOICE,
    { conditions }: Pick<EvaluationDefinition, 'conditions'>,
  ): Promise<Pick<VoiceOptions, 'sounds' | 'voice' | 'babble' | 'backgroundNoise' | 'interrupts'>> {
    const { speech } = this;
    const needsBabble = voice.backgroundNoise || conditions.noise?.type === 'babble';
    return {
      sounds: {
        synthesise: (request, signal) => speech.synthesise({ ...request, owner: workspaceId }, signal),
        soundOf,
      },
      voice: voiceOf(voice).voice,
      backgroundNoise: voice.backgroundNoise,
      interrupts: voice.interrupts === 'sometimes',
      ...(needsBabble && { babble: await this.babbleOnce() }),
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.engine.close();
  }

  private babbleOnce(): Promise<Int16Array> {
    this.babble ??= babbleLoop(this.speech).catch((error: unknown) => {
      this.babble = undefined;
      throw error;
    });
    return this.babble;
  }
}
