import type { components } from './api.js';

export type ErrorIssue = components['schemas']['ErrorIssue'];

export interface Answered {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isIssue = (value: unknown): value is ErrorIssue => isObject(value) && typeof value['message'] === 'string';

/** A file, or an envelope, of which some deletions only have the `message`. */
export const isAnswer = (data: unknown): boolean =>
  typeof data === 'string' ||
  data instanceof ReadableStream ||
  (isObject(data) && ('data' in data || 'message' in data));

/** The error body of the service. */
export function errorBody(error: unknown): { code: string; message: string; issues: ErrorIssue[] } | undefined {
  const body: unknown = typeof error === 'string' ? parsed(error) : error;
  if (!isObject(body) || typeof body['code'] !== 'string' || typeof body['message'] !== 'string') return undefined;
  const issues = (Array.isArray(body['issues']) ? body['issues'] : []).filter(isIssue);
  return { code: body['code'], message: body['message'], issues };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the request is still processed, by its Idempotency-Key. */
export const isInProgress = ({ error, response }: Answered): boolean =>
  response.status === 409 && (errorBody(error)?.message.includes('Idempotency-Key') ?? false);
