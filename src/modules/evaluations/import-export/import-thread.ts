/** Entry of the threads of `ImportThreads`. It imports nothing of the framework, so that a thread starts quickly. */
import { serveTasks } from '../../../../libs/concurrency/index.js';
import { DomainError, type ErrorCode, type Issue } from '../../../platform/errors/domain-error.js';
import { type CheckedFile, checkFile } from './check-file.js';
import { decodeFile } from './file.js';

export interface ImportTask {
  /** One of `FORMAT_OF`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Errors lose their class between threads. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];
}

export type ImportOutcome = { readonly file: CheckedFile } | { readonly refusal: Refusal };

serveTasks(({ mediaType, bytes }: ImportTask): ImportOutcome => {
  try {
    return { file: checkFile({ mediaType, text: decodeFile(mediaType, bytes) }) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { refusal: { code: error.code, issues: error.issues ?? [] } };
  }
});
