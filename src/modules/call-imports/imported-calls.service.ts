import { Injectable } from '@nestjs/common';
import { criteriaIn } from '../../../libs/evaluation-definition/index.js';
import {
  type CallResult,
  executeImportedCall,
  executeTranscribedCall,
  failure,
  type ImportedCallOptions,
  PersonalDataRedaction,
  rejudge,
  unstartedCall,
  type VoiceTranscription,
} from '../../../libs/simulation/index.js';
import { type ImportedRecording, RecordingImportsService } from '../recordings/imports/recording-imports.service.js';
import { CallImportsRepository } from './call-imports.repository.js';

/** A call that this process holds the claim on. */
interface Claimed {
  readonly id: string;
  readonly claimId: string;
  readonly runId: string;
  readonly workspaceId: string;
}

/** Measures and judges calls that were recorded elsewhere. */
@Injectable()
export class ImportedCalls {
  constructor(
    private readonly repository: CallImportsRepository,
    private readonly recordings: RecordingImportsService,
  ) {}

  /**
   * The result of an imported call, with its recording. Without the file that was sent the result is the failure
   * `not_imported`.
   * @param transcription how the agent's words become known where no transcript has them; undefined if nothing may be sent
   * @throws the signal's reason
   */
  async execute(
    { id, claimId, runId, workspaceId }: Claimed,
    options: Omit<ImportedCallOptions, 'facts' | 'callId' | 'heard' | 'recording' | 'signal'>,
    transcription: VoiceTranscription | undefined,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const source = await this.repository.source(id);
    if (!source) return notImported('it was deleted');
    const { channels, transcript, toolCalls, endedReason, origin, decided } = source;
    const { definition, scenario, model, judgeSamples } = options;
    if (decided && channels === null) {
      const recorded = { ...decided, exchange: decided.exchange && { ...decided.exchange, callId: claimId } };
      // The words are redacted by now: only criteria are left to decide.
      const hasCriteria = definition.criteria.length + criteriaIn(definition.checks).length > 0;
      return model && hasCriteria
        ? rejudge({ definition, scenario, recorded, model, ...(judgeSamples && { judgeSamples }), signal })
        : recorded;
    }
    const { turnEndMs } = definition;
    const ofProduction = decided && { redaction: new PersonalDataRedaction(), decided: decided.checks };
    const reported = {
      ...{ isProduction: origin === 'production' },
      ...(toolCalls && { toolCalls }),
      ...(endedReason !== null && { endedReason }),
    };
    if (channels === null) {
      return executeTranscribedCall({ ...options, reported, callId: claimId, transcript: transcript ?? [], signal });
    }
    const recogniser = transcript?.some(({ speaker }) => speaker === 'agent') ? undefined : transcription;
    const sent = { channels, turnEndMs, isHeard: recogniser !== undefined, ...(transcript && { transcript }) };
    const key = { id: claimId, runId, workspaceId };
    const judge = ({ facts, pieces, recording }: ImportedRecording) => {
      const heard = recogniser && { pieces, transcription: recogniser };
      const known = { facts, reported, recording, ...(heard && { heard }) };
      return executeImportedCall({ ...options, ...known, ...ofProduction, callId: claimId, signal });
    };
    const result = await this.recordings.import(key, id, sent, judge, signal);
    return 'refusal' in result ? notImported(result.refusal) : result;
  }
}

const notImported = (why: string): CallResult => unstartedCall('none', failure('not_imported', why));
