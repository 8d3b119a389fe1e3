import { SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import { invalidInput } from '../../errors/domain-error.js';
import { readBody } from './read-body.js';
import { hasBody, sendContinue } from './text-body.js';

export const NO_BODY = 'http:no-body';

/** The operation takes no body. */
export const TakesNoBody = () => SetMetadata(NO_BODY, true);

/** Longer ones are not `{}`. */
const MAX_BYTES = 1024;

/**
 * Refuses the body of an operation that would ignore it: its client expects something of it. Clients and generated SDKs send
 * `{}` for none.
 * @throws DomainError BAD_REQUEST
 */
export async function refuseBody(request: Request, response: Response): Promise<void> {
  if (!hasBody(request)) return;
  const bytes = await readBody(request, MAX_BYTES, () => sendContinue(request, response)).catch(() => undefined);
  const text = bytes?.toString('latin1').replace(/\s/g, '');
  if (text !== '' && text !== '{}') throw invalidInput('body must be absent or {}: this operation takes no body');
}
