import { forbidden, notFound } from '../errors/domain-error.js';
import type { Caller } from './caller.js';

/**
 * Returns the row if it exists and belongs to the caller's workspace.
 * @throws DomainError NOT_FOUND, or FORBIDDEN for a resource of another workspace
 */
export function requireOwned<Row extends { readonly workspaceId: string }>(
  caller: Pick<Caller, 'workspaceId'>,
  row: Row | null | undefined,
): Row {
  if (!row) throw notFound();
  if (row.workspaceId !== caller.workspaceId) throw forbidden();
  return row;
}

/**
 * Checks a `workspaceId` sent in a body: the caller's own, null or absent.
 * @throws DomainError FORBIDDEN
 */
export function requireOwnWorkspace(caller: Caller, workspaceId: string | null | undefined): void {
  if (workspaceId != null && workspaceId.toLowerCase() !== caller.workspaceId) throw forbidden();
}
