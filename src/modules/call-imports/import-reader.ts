import { Injectable } from '@nestjs/common';
import type { TranscriptEntry } from '../../../libs/simulation/index.js';
import { DomainError, type Issue } from '../../platform/errors/domain-error.js';
import { invalidFields } from '../../platform/http/dto/issues.js';
import { InputPipe } from '../../platform/http/dto/validation.pipe.js';
import { RecordingUploadsService } from '../recordings/recording-uploads.service.js';
import { contentHash, type ImportForm } from './call-import.gate.js';
import { ImportCallRequest, readTranscript } from './dto/import-call.request.js';

/** A call to import. */
export interface Import {
  /** Run of the call, which names its file. */
  readonly runId: string;
  readonly request: ImportCallRequest;
  /** What its recording will take. */
  readonly bytes: number;
  readonly transcript: readonly TranscriptEntry[] | null;
  readonly contentHash: string;
}

/** Reads the forms of imports. */
@Injectable()
export class ImportReader {
  private readonly pipe = new InputPipe();

  constructor(private readonly uploads: RecordingUploadsService) {}

  /** @throws DomainError BAD_REQUEST with all issues of fields, recording and transcript */
  async read({ runId, fields, upload }: ImportForm): Promise<Import> {
    const issues: (Issue | string)[] = [];
    const request = await this.request(fields).catch((error: unknown) => {
      if (!(error instanceof DomainError) || !error.issues) throw error;
      issues.push(...error.issues);
      return undefined;
    });
    const audio = upload ? await this.uploads.describe(upload) : 'must be given, as a part with a filename';
    if (typeof audio === 'string') issues.push(`recording ${audio}`);
    let transcript: readonly TranscriptEntry[] | null = null;
    if (request?.transcript !== undefined && typeof audio !== 'string') {
      const found = readTranscript(request.transcript, audio.seconds * 1_000);
      if ('issues' in found) issues.push(...found.issues);
      else transcript = found;
    }
    if (!request || typeof audio === 'string' || issues.length > 0) throw invalidFields(issues);
    return { runId, request, bytes: audio.bytes, transcript, contentHash: contentHash(fields, upload) };
  }

  private async request(fields: ImportForm['fields']): Promise<ImportCallRequest> {
    const metadata = { type: 'body', metatype: ImportCallRequest } as const;
    return (await this.pipe.transform({ ...fields }, metadata)) as ImportCallRequest;
  }
}
