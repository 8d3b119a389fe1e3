import { DomainError } from '../../errors/domain-error.js';

/** So many causes are listed in one answer; a body of a mebibyte can hold a hundred thousand. */
const MAX_ISSUES = 100;

export const unknownField = (path: string): string => `${path} is not a known field`;

/** Invalid input with all its causes, as far as an answer can hold them. */
export function invalidFields(issues: readonly string[]): DomainError {
  const listed = issues.length <= MAX_ISSUES ? issues : issues.slice(0, MAX_ISSUES - 1);
  const more = issues.length - listed.length;
  return new DomainError('BAD_REQUEST', undefined, more > 0 ? [...listed, `body has ${more} further faults`] : listed);
}
