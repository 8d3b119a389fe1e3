import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { DomainError } from '../errors/domain-error.js';

/** Checks bodies and query strings against their classes; every fault becomes one issue that begins with its field. */
export const validationPipe = (): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => new DomainError('BAD_REQUEST', undefined, errors.flatMap((error) => issuesOf(error, ''))),
  });

function issuesOf(error: ValidationError, parent: string): string[] {
  const path = parent + error.property;
  const own = Object.entries(error.constraints ?? {}).map(([constraint, message]) => {
    if (constraint === 'whitelistValidation') return `${path} is not a known field`;
    return parent + message;
  });
  const children = (error.children ?? []).flatMap((child) => issuesOf(child, `${path}.`));
  return [...own, ...children];
}
