import { SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import { invalidFields, shownName, unknownField } from './issues.js';

export const NO_QUERY = 'http:no-query';

/** The route takes no query parameters. */
export const TakesNoQuery = () => SetMetadata(NO_QUERY, true);

/**
 * Refuses query parameters where none is known, as the validation does where some are (decisions).
 * @throws DomainError BAD_REQUEST
 */
export function refuseQuery(request: Request): void {
  // Most requests have none, and need not be parsed for it.
  if (!request.url.includes('?')) return;
  const names = Object.keys(request.query);
  if (names.length > 0) throw invalidFields(names.map((name) => unknownField(shownName(name))));
}
