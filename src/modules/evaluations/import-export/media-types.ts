import type { ExportFormat } from '../dto/evaluation.requests.js';

const MEBIBYTE = 1024 * 1024;
/** Largest file that import takes, in bytes (decisions). */
export const MAX_FILE_SIZE = 10 * MEBIBYTE;
/** Most evaluations of one file. */
export const MAX_ITEMS = 5_000;

/** The media types under which a file may be sent, and the format that each one means. */
export const FORMAT_OF: Readonly<Record<string, ExportFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/csv': 'csv',
};

/** The media type under which a file is answered. */
export const CONTENT_TYPE_OF: Readonly<Record<ExportFormat, string>> = {
  json: 'application/json; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};
