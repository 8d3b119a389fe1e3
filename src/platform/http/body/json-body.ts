import { SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import { invalidInput } from '../../errors/domain-error.js';
import { jsonFault } from './json-fault.js';
import { readText, type TextBodyOptions } from './text-body.js';

export const JSON_BODY = 'http:json-body';

const JSON_OBJECT: TextBodyOptions = { mediaTypes: ['application/json'], limit: 1024 * 1024 };
const NOT_AN_OBJECT = 'body must be a JSON object';

/** The route takes a JSON object of at most 1 MiB. */
export const TakesJson = () => SetMetadata(JSON_BODY, true);

/**
 * Reads a body that must be a JSON object.
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or BAD_REQUEST
 */
export async function readJson(request: Request, response: Response): Promise<object> {
  const { text } = await readText(request, response, JSON_OBJECT, NOT_AN_OBJECT);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidInput('body must be valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidInput(NOT_AN_OBJECT);
  const fault = jsonFault(body);
  if (fault) throw invalidInput(fault);
  return body;
}
