import { getSchemaPath } from '@nestjs/swagger';
import { API_VERSION } from '../api-version.js';
import { DEFAULT_MESSAGES, ERROR_CODES, type ErrorCode } from '../errors/domain-error.js';
import { ErrorBody } from '../http/responses/error-body.js';
import { STATUS_OF } from '../http/responses/error-status.js';
import type { Header, Reference, Response, Responses } from './types.js';

/** Every header that a client may rely on. */
export const HEADERS = {
  'X-RateLimit-Limit': {
    description: 'Requests allowed in a window of 60 seconds',
    required: true,
    schema: { type: 'integer', minimum: 1, example: 60 },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the window',
    required: true,
    schema: { type: 'integer', minimum: 0, example: 59 },
  },
  'X-RateLimit-Reset': {
    description: 'Unix time in seconds at which the window ends',
    required: true,
    schema: { type: 'integer', minimum: 0, example: 1795243062 },
  },
  'X-Request-Id': {
    description: "Identifies the request in the service's log; the client's own value if it sent a valid one",
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$', example: '0b8d4c1e-5f63-4f0e-9a43-0d6a4f2b7c11' },
  },
  'X-API-Version': {
    description: 'Version of the API',
    required: true,
    schema: { type: 'string', enum: [API_VERSION], example: API_VERSION },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    required: true,
    schema: { type: 'integer', minimum: 1, example: 30 },
  },
  'WWW-Authenticate': {
    description: 'Expected authentication scheme',
    required: true,
    schema: { type: 'string', enum: ['Bearer'], example: 'Bearer' },
  },
  ETag: {
    description: 'Identifies the content; send it as `If-None-Match` to download the file only if it has changed',
    required: true,
    schema: { type: 'string', pattern: '^"[^"]+"$', example: '"0c9a5e0e-6f0b-4a58-9c4f-2b1f8e1f7a55"' },
  },
  'Content-Range': {
    description: 'Which bytes of the file were sent, and its length',
    required: true,
    schema: { type: 'string', pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$', example: 'bytes 0-1023/499258' },
  },
  'Idempotent-Replayed': {
    description: 'Present when this is the stored response of an earlier request with the same `Idempotency-Key`',
    required: false,
    schema: { type: 'string', enum: ['true'], example: 'true' },
  },
} satisfies Record<string, Header>;
type HeaderName = keyof typeof HEADERS;

const ON_EVERY_RESPONSE: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'X-API-Version',
];

/** References to the headers of a response: the common ones and its own. */
export function headers(...own: HeaderName[]): Record<string, Reference> {
  return headerRefs(...ON_EVERY_RESPONSE, ...own);
}

/** References to these headers alone. */
export const headerRefs = (...names: HeaderName[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

interface ErrorDescription {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  /** Typical bodies by name: the message unless it is the default, and the issues. */
  readonly examples: Readonly<Record<string, { readonly message?: string; readonly issues?: readonly string[] }>>;
}

/** Meaning of each error to a client. A code without an entry does not compile. */
const ERRORS: Readonly<Record<ErrorCode, ErrorDescription>> = {
  BAD_REQUEST: {
    description: 'The input is invalid; `issues` lists the causes',
    examples: { invalidInput: { issues: ['limit must not be greater than 100', 'colour is not a known field'] } },
  },
  UNAUTHORIZED: {
    description: 'The API key is missing or not valid',
    headers: ['WWW-Authenticate'],
    examples: {
      missingKey: {},
      invalidKey: { message: 'Invalid API key' },
      expiredKey: { message: 'Expired API key' },
    },
  },
  FORBIDDEN: {
    description: "The resource is another workspace's, or the operation is beyond the role of the API key",
    examples: { forbidden: {} },
  },
  NOT_FOUND: { description: 'The resource does not exist', examples: { notFound: {} } },
  CONFLICT: {
    description: 'A request with the same `Idempotency-Key` is still in progress',
    examples: { inProgress: { message: 'A request with this Idempotency-Key is still in progress' } },
  },
  PAYLOAD_TOO_LARGE: {
    description: 'The body is larger than 1 MiB',
    examples: { tooLarge: { issues: ['body must be at most 1 MiB'] } },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    description: 'The `Content-Type` of the body is not JSON, or its encoding is not supported',
    examples: { notJson: { issues: ['body must be sent as application/json'] } },
  },
  RANGE_NOT_SATISFIABLE: {
    description: 'The `Range` is not within the file, not valid, or more than one',
    headers: ['Content-Range'],
    examples: { notSatisfiable: {} },
  },
  UNPROCESSABLE_CONTENT: {
    description: 'The `Idempotency-Key` was used with another body',
    examples: { otherBody: { issues: ['Idempotency-Key was used with another body'] } },
  },
  TOO_MANY_REQUESTS: {
    description: 'The rate limit is exceeded',
    headers: ['Retry-After'],
    examples: { exceeded: {} },
  },
  INTERNAL_SERVER_ERROR: {
    description: 'An internal error; the log has its cause under the `X-Request-Id`',
    examples: { fault: {} },
  },
  SERVICE_UNAVAILABLE: {
    description: 'The service is temporarily unavailable, for example because it cannot reach its database',
    headers: ['Retry-After'],
    examples: { unavailable: {} },
  },
};

/** A Markdown table of all errors, for the introduction. */
export const ERROR_TABLE = [
  '| Status | `code` | Meaning |',
  '| --- | --- | --- |',
  ...ERROR_CODES.map((code) => `| ${STATUS_OF[code]} | \`${code}\` | ${ERRORS[code].description} |`),
].join('\n');

/** A Markdown table of the headers of every response, for the introduction. */
export const HEADER_TABLE = [
  '| Header | Meaning |',
  '| --- | --- |',
  ...ON_EVERY_RESPONSE.map((name) => `| \`${name}\` | ${HEADERS[name].description} |`),
].join('\n');

/** Name of the shared response: `NotFound` for `NOT_FOUND`. */
const nameOf = (code: ErrorCode): string =>
  code
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');

function errorResponse(code: ErrorCode): Response {
  const { description, headers: own = [], examples } = ERRORS[code];
  const bodies = Object.entries(examples).map(([name, { message = DEFAULT_MESSAGES[code], issues }]) => {
    const value = { code, message, ...(issues && { issues: issues.map((issue) => ({ message: issue })) }) };
    return [name, { summary: message, value }] as const;
  });
  return {
    description,
    headers: headers(...own),
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ErrorBody) }, examples: Object.fromEntries(bodies) },
    },
  };
}

/** The response of each error, shared by all operations. */
export const ERROR_RESPONSES: Readonly<Record<string, Response>> = Object.fromEntries(
  ERROR_CODES.map((code) => [nameOf(code), errorResponse(code)]),
);

/** References to the responses of an operation's errors, by status. */
export function errorResponses(codes: readonly ErrorCode[]): Responses {
  return Object.fromEntries(
    codes.map((code) => [String(STATUS_OF[code]), { $ref: `#/components/responses/${nameOf(code)}` }]),
  );
}
