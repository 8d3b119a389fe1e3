import { readFileSync } from 'node:fs';
import path from 'node:path';
import { JUDGE_PROMPT_VERSION, type Medium } from '../../../libs/simulation/index.js';
import { FLITE_VERSION } from '../../../libs/speech/index.js';
import type { Settings } from '../../platform/config/settings.js';
import { PROJECT_ROOT } from '../../platform/project-root.js';

/** What tests an agent, beside the evaluations: another tester may get other results from the same agent. */
export interface Tester {
  /** Version of the service. */
  readonly service: string;
  /** Model, version of the prompt and number of verdicts; null without a language model. */
  readonly judge: string | null;
  /** Null for text calls, and without a transcription server. */
  readonly transcription: string | null;
  /** Engines of the caller's voice; none for text calls. */
  readonly speech: readonly string[];
}

const { version } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'package.json'), 'utf8')) as { version: string };

const server = ({ baseUrl, model }: { baseUrl: string; model: string | undefined }): string =>
  `${new URL(baseUrl).host} ${model ?? ''}`.trim();

/** The tester of a run by the settings of the service. */
export function testerOf(
  { languageModel, judgeSamples, transcription, speechServers }: Settings,
  medium: Medium,
): Tester {
  const isVoice = medium === 'voice';
  const engines = [`flite ${FLITE_VERSION}`, ...Object.values(speechServers).map(server)];
  return {
    service: version,
    judge: languageModel ? `${languageModel.model}, prompt ${JUDGE_PROMPT_VERSION}, samples ${judgeSamples}` : null,
    transcription: isVoice && transcription ? server(transcription) : null,
    speech: isVoice ? [...new Set(engines)] : [],
  };
}
