import { Inject, Injectable } from '@nestjs/common';
import { LanguageModel } from '../../../libs/simulation/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { LanguageModelSetting, Settings } from '../../platform/config/settings.js';
import { CallMetrics } from './call-metrics.js';

/** The language model of all calls of this process. */
@Injectable()
export class ModelService {
  /** Undefined if none is configured. */
  readonly model: LanguageModel | undefined;

  constructor(@Inject(SETTINGS) { languageModel: setting }: Settings, metrics: CallMetrics) {
    this.model = setting && languageModel(setting, metrics);
  }
}

function languageModel(
  { baseUrl, proxy, model, apiKey, prices }: LanguageModelSetting,
  metrics: CallMetrics,
): LanguageModel {
  return new LanguageModel({
    baseUrl,
    shownUrl: 'LLM_BASE_URL',
    proxy,
    model,
    ...(apiKey !== undefined && { apiKey }),
    ...(prices && { prices }),
    onRequest: metrics.observeModelRequest,
  });
}
