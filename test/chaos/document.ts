import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OpenApiDocument, OpenApiOperation } from '../support/openapi-validator.js';

const file = path.resolve(import.meta.dirname, '../../openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;

/** All operations of openapi.json. */
export const documented: readonly OpenApiOperation[] = Object.values(document.paths).flatMap((item) =>
  Object.values(item),
);

/** Operations that return pages of what is stored: the list of a platform's assistants is a POST. */
export const documentedLists: readonly string[] = Object.values(document.paths)
  .flatMap(({ get }) => get ?? [])
  .filter(({ parameters = [] }) => ['page', 'limit'].every((name) => parameters.some((each) => each.name === name)))
  .map(({ operationId }) => operationId);

/** @throws Error that names the entries of only one side */
export function expectSameEntries(what: string, known: readonly string[], expected: readonly string[]): void {
  const missing = expected.filter((id) => !known.includes(id));
  const unknown = known.filter((id) => !expected.includes(id));
  if (missing.length === 0 && unknown.length === 0) return;
  throw new Error(
    `${what} differs from openapi.json: missing [${missing.join(', ')}], unknown [${unknown.join(', ')}]`,
  );
}
