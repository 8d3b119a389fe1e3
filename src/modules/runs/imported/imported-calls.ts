import { Injectable } from '@nestjs/common';
import {
  type CallResult,
  executeImportedCall,
  failure,
  type ImportedCallOptions,
  unstartedCall,
} from '../../../../libs/simulation/index.js';
import { RecordingImportsService } from '../../recordings/imports/recording-imports.service.js';
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
   * @throws the signal's reason
   */
  async execute(
    { id, claimId, runId, workspaceId }: Claimed,
    options: Omit<ImportedCallOptions, 'facts' | 'callId' | 'signal'>,
    signal: AbortSignal,
  ): Promise<CallResult> {
    const source = await this.repository.source(id);
    if (!source) return notImported('it was deleted');
    const { channels, transcript } = source;
    const { turnEndMs } = options.definition;
    const sent = { channels, turnEndMs, ...(transcript && { transcript }) };
    const imported = await this.recordings.import({ id: claimId, runId, workspaceId }, id, sent, signal);
    if ('refusal' in imported) return notImported(imported.refusal);
    const { facts, recordingOmitted } = imported;
    const result = await executeImportedCall({ ...options, facts, callId: claimId, signal });
    return { ...result, ...(recordingOmitted && { recordingOmitted }) };
  }
}

const notImported = (why: string): CallResult => unstartedCall('none', failure('not_imported', why));
