import { invalidInput } from '../../../platform/errors/domain-error.js';
import { decodeUtf8 } from '../../../platform/http/body/utf8.js';
import { readCsv } from './csv-file.js';
import type { FileContents } from './file-item.js';
import { readJson } from './json-file.js';
import { FORMAT_OF } from './media-types.js';
import { readYaml } from './yaml-file.js';

/** An uploaded file. */
export interface EvaluationFile {
  /** One of `FORMAT_OF`. */
  readonly mediaType: string;
  readonly text: string;
}

const READERS = { json: readJson, yaml: readYaml, csv: readCsv } as const;

/**
 * The evaluations and personalities of a file, not yet validated.
 * @throws DomainError BAD_REQUEST for a file that is malformed or does not contain evaluations
 */
export function readFile({ mediaType, text }: EvaluationFile): FileContents {
  const format = FORMAT_OF[mediaType];
  if (!format) throw new Error(`No reader for ${mediaType}`);
  return READERS[format](text);
}

/**
 * The text of a file in UTF-8 or, if a byte order mark says so, UTF-16, which spreadsheets write as "Unicode Text".
 * @throws DomainError BAD_REQUEST for another encoding: read by guess, it would be stored otherwise than it was written
 */
export function decodeFile(mediaType: string, bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittle = first === 0xff && second === 0xfe;
  try {
    if (isLittle || (first === 0xfe && second === 0xff))
      return new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes);
    return decodeUtf8(bytes);
  } catch (error) {
    if (FORMAT_OF[mediaType] !== 'csv') throw error;
    throw invalidInput('body must be encoded in UTF-8: save the spreadsheet as "CSV UTF-8"');
  }
}
