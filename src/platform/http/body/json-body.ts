import { SetMetadata } from '@nestjs/common';
import { invalidInput } from '../../errors/domain-error.js';
import { jsonFault } from './json-fault.js';
import type { TextBodyOptions } from './text-body.js';

export const JSON_BODY = 'http:body';
export const JSON_OBJECT: TextBodyOptions = { mediaTypes: ['application/json'], limit: 1024 * 1024 };
export const NO_OBJECT = 'body must be a JSON object';

/** The route takes a JSON object of at most 1 MiB. */
export const TakesJson = () => SetMetadata(JSON_BODY, true);

/** @throws DomainError BAD_REQUEST */
export function parseObject(text: string): object {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidInput('body must be valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidInput(NO_OBJECT);
  const fault = jsonFault(body);
  if (fault) throw invalidInput(fault);
  return body;
}
