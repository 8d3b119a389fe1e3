import { DomainError } from '../../platform/errors/domain-error.js';

/** Maximum number of evaluations listed in an error; the rest is only counted. */
const MAX_LISTED = 20;

/**
 * @param refused evaluations with the reason of each
 * @param remedies of all of them
 * @throws DomainError CONFLICT with an issue per evaluation, if there are any
 */
export function refuse(
  refused: readonly { readonly name: string; readonly reason: string }[],
  remedies: readonly string[] = [],
): void {
  if (refused.length === 0) return;
  const issues = refused
    .slice(0, MAX_LISTED)
    .map(({ name, reason }) => `evaluations "${name}" cannot be run: ${reason}`);
  const more = refused.length - issues.length;
  if (more > 0) issues.push(`evaluations: ${more} more cannot be run`);
  throw new DomainError('CONFLICT', 'The run cannot be started', [...issues, ...remedies]);
}
