import { committedDocument, operations } from '../support/conformance.js';
import type { OpenApiOperation } from '../support/openapi-validator.js';

/** All operations of openapi.json. */
export const documented: readonly OpenApiOperation[] = operations.map(({ operation }) => operation);

/** Operations that return pages of what is stored: the list of a platform's assistants is a POST. */
export const documentedLists: readonly string[] = Object.values(committedDocument.paths)
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
