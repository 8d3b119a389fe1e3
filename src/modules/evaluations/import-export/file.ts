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
