import { sentence, shownPath, type Violation } from '../../../../libs/json-input/index.js';
import { DomainError, type Issue } from '../../errors/domain-error.js';

/** Most issues in one response; a body of 1 MiB can have a hundred thousand. */
const MAX_ISSUES = 100;

/** @param detail the end of the sentence */
export const issueOf = (violation: Violation, detail = ''): Issue => ({
  message: `${sentence(violation)}${detail}`,
  ...(violation.path.length > 0 && { field: shownPath(violation.path) }),
});

/** BAD_REQUEST with all issues, up to the maximum. */
export function invalidFields(issues: readonly (Issue | string)[]): DomainError {
  const listed = issues.length <= MAX_ISSUES ? issues : issues.slice(0, MAX_ISSUES - 1);
  const more = issues.length - listed.length;
  return new DomainError(
    'BAD_REQUEST',
    undefined,
    more > 0 ? [...listed, `body has ${more} further violations`] : listed,
  );
}
