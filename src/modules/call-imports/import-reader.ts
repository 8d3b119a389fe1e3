import { Injectable } from '@nestjs/common';
import type { ImportedToolCall, TranscriptEntry } from '../../../libs/simulation/index.js';
import { DomainError, type Issue } from '../../platform/errors/domain-error.js';
import { invalidFields } from '../../platform/http/dto/issues.js';
import { InputPipe } from '../../platform/http/dto/validation.pipe.js';
import { RecordingUploadsService, type UploadedAudio } from '../recordings/recording-uploads.service.js';
import { contentHash, type ImportForm } from './call-import.gate.js';
import type { Issues } from './json-field.js';
import { ImportCallRequest, readTranscript } from './dto/import-call.request.js';
import { readReported, readToolCalls } from './reported-fields.js';

/** A call to import. */
export interface Import {
  /** Run of the call, which names its file. */
  readonly runId: string;
  readonly request: ImportCallRequest;
  /** What its recording will take; null without one. */
  readonly bytes: number | null;
  readonly transcript: readonly TranscriptEntry[] | null;
  readonly toolCalls: readonly ImportedToolCall[] | null;
  /** What its platform measured. */
  readonly reported: unknown;
  readonly contentHash: string;
}

/** The end of a call without a recording at the latest. */
const LONGEST_MS = 24 * 60 * 60_000;

const NO_RECORDING = 'recording must be given, as a part with a filename, or a transcript that has both sides';

/** Reads the forms of imports. */
@Injectable()
export class ImportReader {
  private readonly pipe = new InputPipe();

  constructor(private readonly uploads: RecordingUploadsService) {}

  /** @throws DomainError BAD_REQUEST with all issues of fields, recording, transcript and what was reported */
  async read({ runId, fields, upload }: ImportForm): Promise<Import> {
    const issues: (Issue | string)[] = [];
    const request = await this.request(fields).catch((error: unknown) => {
      if (!(error instanceof DomainError) || !error.issues) throw error;
      issues.push(...error.issues);
      return undefined;
    });
    const audio = upload && (await this.uploads.describe(upload));
    if (typeof audio === 'string') issues.push(`recording ${audio}`);
    if (!upload && fields['transcript'] === undefined) issues.push(NO_RECORDING);
    const parts = request && typeof audio !== 'string' ? partsOf(request, audio, issues) : undefined;
    if (!request || !parts || issues.length > 0) throw invalidFields(issues);
    const bytes = (audio as UploadedAudio | undefined)?.bytes ?? null;
    return { runId, request, bytes, ...parts, contentHash: contentHash(fields, upload) };
  }

  private async request(fields: ImportForm['fields']): Promise<ImportCallRequest> {
    const metadata = { type: 'body', metatype: ImportCallRequest } as const;
    return (await this.pipe.transform({ ...fields }, metadata)) as ImportCallRequest;
  }
}

/** @param issues takes what is wrong */
function partsOf(
  request: ImportCallRequest,
  audio: UploadedAudio | undefined,
  issues: (Issue | string)[],
): Pick<Import, 'transcript' | 'toolCalls' | 'reported'> {
  const take = <T extends object>(found: T | Issues | undefined): Exclude<T, Issues> | null => {
    if (!found || !('issues' in found)) return (found as Exclude<T, Issues> | undefined) ?? null;
    issues.push(...found.issues);
    return null;
  };
  const endMs = audio ? audio.seconds * 1_000 : LONGEST_MS;
  const { transcript: said, toolCalls, reported, channels } = request;
  const transcript = take(said === undefined ? undefined : readTranscript(said, endMs));
  const isWhole = (['agent', 'caller'] as const).every((side) =>
    transcript?.some(({ speaker, text }) => speaker === side && text.trim() !== ''),
  );
  if (audio && !channels) issues.push('channels must be given with a recording');
  if (!audio && said !== undefined && (channels || !isWhole)) {
    issues.push(isWhole ? 'channels must only be given with a recording' : NO_RECORDING);
  }
  return {
    transcript,
    toolCalls: take(toolCalls === undefined ? undefined : readToolCalls(toolCalls, Math.ceil(endMs))),
    reported: take(reported === undefined ? undefined : readReported(reported))?.json ?? null,
  };
}
