import path from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  BACKCHANNEL_VOICES,
  babbleLoop,
  CachedSpeech,
  callerLanguages,
  callerVoice,
  FliteEngine,
  soundOf,
  type SpeechEngine,
  SpeechServer,
} from '../../../libs/speech/index.js';
import { DEFAULT_LANGUAGE, type EvaluationDefinition } from '../../../libs/evaluation-definition/index.js';
import { backchannelWord, failure, type Failure, type VoiceOptions } from '../../../libs/simulation/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import type { SpeechServers, SpeechServerSetting } from '../../platform/config/speech-settings.js';
import type { CallerVoice, EvaluationSnapshot } from '../runs/run-evaluation.entity.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { operatorClient } from '../../platform/outbound/operator-client.js';
import { CallMetrics } from './call-metrics.js';

/** The fields of a personality that says nothing about its voice. */
const DEFAULT_VOICE: CallerVoice = {
  gender: 'FEMALE',
  accent: '',
  voice_id: '',
  provider: 'PERSONALITY_PROVIDER_1',
  backgroundNoise: false,
};

/** What a call of a personality needs beside its evaluation. */
export type CallerVoiceOptions = Pick<
  VoiceOptions,
  'sounds' | 'voice' | 'platformVoice' | 'engine' | 'babble' | 'backgroundNoise' | 'interrupts'
>;

/** The voices of simulated callers, of the embedded engine and of speech servers; all audio is cached in DATA_DIR. */
@Injectable()
export class CallerVoices implements OnApplicationShutdown {
  private readonly logger = new Logger('Speech');
  private readonly engine = new FliteEngine();
  /** The engine of the embedded voices, with its cache. */
  readonly embedded: SpeechEngine;
  private readonly servers: SpeechServers;
  private readonly byServer = new Map<SpeechServerSetting, SpeechEngine>();
  private readonly engines: { close(): Promise<void> }[] = [this.engine];
  private readonly outbound = operatorClient();
  private babble: Promise<Int16Array> | undefined;

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly metrics: CallMetrics,
  ) {
    this.servers = settings.speechServers;
    this.embedded = this.cached(this.engine);
  }

  /** Workspaces take turns at each engine. @returns why no voice can speak the call's language, if that is so */
  async options(
    workspaceId: string,
    { personality, language }: Pick<EvaluationSnapshot, 'personality' | 'language'>,
    { conditions }: Pick<EvaluationDefinition, 'conditions'>,
  ): Promise<CallerVoiceOptions | { readonly failure: Failure }> {
    const tag = language ?? DEFAULT_LANGUAGE;
    const settings = personality.voice ?? DEFAULT_VOICE;
    const chosen = callerVoice(settings, tag, this.servers);
    // The run was started with other settings.
    if (!chosen) {
      const { cure } = callerLanguages(settings.provider, this.servers);
      return { failure: failure('speech_failed', { what: `no voice speaks ${tag} (${cure})`, isPermanent: true }) };
    }
    const { server, voice, platformVoice } = chosen;
    const engine = server ? this.engineOf(server) : this.embedded;
    const { backgroundNoise } = settings;
    const needsBabble = backgroundNoise || conditions.noise?.type === 'babble';
    const synthesise: VoiceOptions['sounds']['synthesise'] = (request, signal) =>
      engine.synthesise({ ...request, owner: workspaceId }, signal);
    return {
      sounds: {
        synthesise,
        soundOf: (name) => {
          const word = backchannelWord(name, tag);
          if (word !== undefined) return synthesise({ text: word, voice });
          return soundOf(name, server ? BACKCHANNEL_VOICES[settings.gender] : voice);
        },
      },
      voice,
      platformVoice,
      engine: server ? `${new URL(server.baseUrl).host} ${server.model ?? ''}`.trim() : `flite ${engine.version}`,
      backgroundNoise,
      interrupts: settings.interrupts === 'sometimes',
      ...(needsBabble && { babble: await this.babbleOnce() }),
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.close()));
  }

  private engineOf(server: SpeechServerSetting): SpeechEngine {
    let engine = this.byServer.get(server);
    if (!engine) {
      const { outbound } = this;
      const speech = new SpeechServer({ ...server, setting: `${server.setting}_BASE_URL`, outbound });
      this.engines.push(speech);
      engine = this.cached(speech);
      this.byServer.set(server, engine);
    }
    return engine;
  }

  private cached(engine: SpeechEngine): SpeechEngine {
    return new CachedSpeech(engine, {
      folder: path.resolve(this.settings.dataDir, 'speech'),
      onFileError: (error) => this.logger.warn(`The cache of speech cannot be used: ${messageOf(error)}`),
      onSynthesis: this.metrics.observeSynthesis,
    });
  }

  private babbleOnce(): Promise<Int16Array> {
    this.babble ??= babbleLoop(this.embedded).catch((error: unknown) => {
      this.babble = undefined;
      throw error;
    });
    return this.babble;
  }
}
