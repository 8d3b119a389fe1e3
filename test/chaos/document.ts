import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OpenApiDocument, OpenApiOperation } from '../support/openapi-validator.js';

const file = path.resolve(import.meta.dirname, '../../openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;

/** Every operation of the committed document. */
export const documented: readonly OpenApiOperation[] = Object.values(document.paths).flatMap((item) =>
  Object.values(item),
);

/** Those that answer page by page. */
export const documentedLists: readonly string[] = documented
  .filter(({ parameters = [] }) => ['page', 'limit'].every((name) => parameters.some((each) => each.name === name)))
  .map(({ operationId }) => operationId);

/** @throws Error that names what is only in one of the two */
export function mustMatch(what: string, known: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((id) => !known.includes(id));
  const unknown = known.filter((id) => !wanted.includes(id));
  if (missing.length === 0 && unknown.length === 0) return;
  throw new Error(`${what} lacks [${missing.join(', ')}] of openapi.json and has [${unknown.join(', ')}] beyond it`);
}
