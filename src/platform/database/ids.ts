import { notFound } from '../errors/domain-error.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

/**
 * Checks the id of a path segment. The contract allows any string, so one that is not a UUID names a resource that does not
 * exist.
 * @throws DomainError NOT_FOUND
 */
export function uuidOrNotFound(id: string): string {
  if (!isUuid(id)) throw notFound();
  return id;
}
