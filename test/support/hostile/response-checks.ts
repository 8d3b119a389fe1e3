import { DEFAULT_MESSAGES, type ErrorCode } from '../../../src/platform/errors/domain-error.js';
import type { WireResponse } from './wire.js';

/** The contract's statuses and codes, repeated here so that a change of the service's own table is noticed. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  416: 'RANGE_NOT_SATISFIABLE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
};

/** Allowed messages other than the default. */
const OTHER_MESSAGES: Partial<Record<ErrorCode, readonly string[]>> = {
  UNAUTHORIZED: ['Invalid API key', 'Expired API key'],
  CONFLICT: [
    'A request with this Idempotency-Key is still in progress',
    'The last ADMIN key of a workspace cannot be revoked',
    'The agent is not deleted',
    'The platform of the agent keeps no records of calls: send them with POST /agents/{id}/calls/import',
    'callMonitoring of the agent is false: switch it on first',
    'The agent of the schedule was deleted; restore it first',
    'A run of the schedule is in progress',
    'The delivery is still pending',
    'No call of the run has a recording that can be measured again',
    'No call of the run has a result that can be judged again',
    'The call has not ended',
    'The agent of the call was deleted',
    'The personality of the evaluation of the call was deleted',
    'Only a call on which a check or criterion was not met, and whose caller said something, becomes a test',
    'A run can have at most 20 report links that have not expired',
    'An agent can have at most 20 page links that have not expired',
  ],
};

const HEADERS = {
  'x-ratelimit-limit': /^[1-9]\d*$/,
  'x-ratelimit-remaining': /^\d+$/,
  'x-ratelimit-reset': /^\d{10}$/,
  'x-request-id': /^[A-Za-z0-9._-]{1,128}$/,
  'x-api-version': /^1\.0\.0$/,
} as const;

/** Internals that must not be exposed: stack traces, SQL, messages of the driver and of libraries. */
const INTERNALS =
  /\bat \S+ \(|\.[jt]s:\d+|node_modules|QueryFailed|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) |violates|syntax error|invalid input syntax|ECONN|(?:Type|Range|Syntax|Reference)Error|Unexpected token|is not a function|Cannot (?:read|set)/;

/** How an issue starts if it is not about a field of the body or the query. */
const GENERAL_SUBJECTS = ['body', 'request', 'request headers', 'Host', 'Idempotency-Key', 'Content-Encoding'];

/** Checks that apply to every response: status, headers, error body, no exposed internals. */
export function violationsOf({ status, headers, text }: WireResponse, isHead = false): string[] {
  const violations: string[] = [];
  if (!(status >= 200 && status < 300) && !(status in CODES)) violations.push(`status ${status}`);
  for (const [name, form] of Object.entries(HEADERS)) {
    const value = headers.get(name);
    if (value === null || !form.test(value)) violations.push(`header ${name} is ${String(value)}`);
  }
  if (isHead) return text === '' ? violations : [...violations, 'the response to HEAD has a body'];
  return status >= 400 ? [...violations, ...errorViolations(status, headers, text)] : violations;
}

function errorViolations(status: number, headers: Headers, text: string): string[] {
  const violations: string[] = [];
  const internal = INTERNALS.exec(text);
  if (internal) violations.push(`the body exposes internals: ${internal[0]}`);
  if (headers.get('content-type') !== 'application/json; charset=utf-8')
    violations.push(`media type ${headers.get('content-type')}`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [...violations, `the body is not JSON: ${text.slice(0, 200)}`];
  }
  const { code, message, issues, ...rest } = body as { code?: unknown; message?: unknown; issues?: unknown };
  if (Object.keys(rest).length > 0) violations.push(`fields beyond the contract: ${Object.keys(rest).join()}`);
  const expected = CODES[status];
  if (expected === undefined || code !== expected) return [...violations, `code ${String(code)} with status ${status}`];
  if (message !== DEFAULT_MESSAGES[expected] && !OTHER_MESSAGES[expected]?.includes(String(message))) {
    violations.push(`message ${String(message)} with ${expected}`);
  }
  return [...violations, ...issueViolations(status, issues)];
}

function issueViolations(status: number, issues: unknown): string[] {
  if (issues === undefined) return status === 400 ? ['400 without issues'] : [];
  if (!Array.isArray(issues) || issues.length === 0) return ['issues is not a non-empty array'];
  return (issues as unknown[]).flatMap((issue) => {
    const { message, field, ...rest } = issue as { message?: unknown; field?: unknown };
    const isText = typeof message === 'string' && message !== '' && message.length < 1_000;
    const isAbout = field === undefined || (typeof field === 'string' && isText && message.startsWith(field));
    return isText && isAbout && Object.keys(rest).length === 0 ? [] : [`issue ${JSON.stringify(issue).slice(0, 600)}`];
  });
}

/**
 * Returns the issues of a 400 that do not start with the path of a field or another known subject.
 * @param names fields and parameters of the operation, and those that were sent
 */
export function issuesWithoutField(text: string, names: readonly string[]): string[] {
  const { issues = [] } = JSON.parse(text) as { issues?: { message: string }[] };
  const known = [
    ...GENERAL_SUBJECTS,
    ...names.map((name) => (name.length <= 100 && name.trim() === '' ? `"${name}"` : name)),
  ];
  return issues
    .map(({ message }) => message)
    .filter(
      (message) => !known.some((name) => startsWithPath(message, name.toWellFormed().replaceAll('\u0000', '\uFFFD'))),
    )
    .map((message) => `issue that names no field: ${message}`);
}

function startsWithPath(message: string, name: string): boolean {
  const shown = name.slice(0, 100);
  return message.startsWith(shown) && /^(?:[ .[…]|$)/.test(message.slice(shown.length));
}
