import type { ExportFormat } from '../dto/evaluation.requests.js';

const MEBIBYTE = 1024 * 1024;
/** Maximum size of a file, in bytes. */
export const MAX_FILE_SIZE = 10 * MEBIBYTE;
/** Parsing YAML takes several times as long as JSON. */
const MAX_YAML_SIZE = 2 * MEBIBYTE;
/** Maximum number of evaluations in a file. */
export const MAX_ITEMS = 5_000;

/** Accepted media types, and their formats. */
export const FORMAT_OF: Readonly<Record<string, ExportFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/x-yaml': 'yaml',
  'text/yaml': 'yaml',
  'text/csv': 'csv',
};

/** Maximum size of a file, in bytes, by media type. */
export const SIZE_LIMITS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(FORMAT_OF).map(([mediaType, format]) => [
    mediaType,
    format === 'yaml' ? MAX_YAML_SIZE : MAX_FILE_SIZE,
  ]),
);

/** Media types of exported files. */
export const CONTENT_TYPE_OF: Readonly<Record<ExportFormat, string>> = {
  json: 'application/json; charset=utf-8',
  yaml: 'application/yaml; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};
