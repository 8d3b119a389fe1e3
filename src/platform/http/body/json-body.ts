import { SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import { findJsonViolations, type JsonLimits } from '../../../../libs/json-input/index.js';
import { about, invalidInput } from '../../errors/domain-error.js';
import { issueOf } from '../dto/issues.js';
import { readRaw, type TextBodyOptions } from './text-body.js';
import { decodeUtf8 } from './utf8.js';

export const JSON_BODY = 'http:json-body';

const JSON_OBJECT: TextBodyOptions = { limits: { 'application/json': 1024 * 1024 } };
/** class-validator takes some 70 µs per value, and a body has room for half a million. */
const JSON_LIMITS: JsonLimits = { maxValues: 10_000, maxViolations: 1, ignoreNumbers: true };
const NOT_AN_OBJECT = 'body must be a JSON object';

/** The route takes a JSON object of at most 1 MiB. */
export const TakesJson = () => SetMetadata(JSON_BODY, true);

/**
 * Reads a body that must be a JSON object.
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or BAD_REQUEST
 */
export async function readJson(request: Request, response: Response): Promise<object> {
  const { bytes } = await readRaw(request, response, JSON_OBJECT, { emptyIssue: NOT_AN_OBJECT });
  const text = decodeUtf8(bytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidInput('body must be valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidInput(NOT_AN_OBJECT);
  const [violation] = findJsonViolations(body, JSON_LIMITS).violations;
  if (violation) throw invalidInput(violation.path.length === 0 ? about('body', violation.text) : issueOf(violation));
  return body;
}
