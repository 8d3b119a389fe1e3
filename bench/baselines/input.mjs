// Validation of agent requests, with the rules of the service.

/** An error response. */
export class HttpError extends Error {
  constructor(status, code, message, issues) {
    super(message);
    this.status = status;
    this.body = { code, message, ...(issues && { issues: issues.map((issue) => ({ message: issue })) }) };
  }
}

export const badRequest = (...issues) => new HttpError(400, 'BAD_REQUEST', 'Invalid input data', issues);
export const notFound = () => new HttpError(404, 'NOT_FOUND', 'Not found');
export const forbidden = () => new HttpError(403, 'FORBIDDEN', 'Insufficient access');

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PROVIDERS = [1, 2, 3, 4].map((n) => `AGENT_PROVIDER_${n}`);

/** @throws HttpError 404 */
export function requireUuid(id) {
  if (!UUID.test(id)) throw notFound();
  return id;
}

const text =
  (max, min = 0) =>
  (value) => {
    if (typeof value !== 'string') return 'must be a string';
    // Lengths are in code points, which only differ from UTF-16 units in strings with surrogate pairs.
    const length = value.length > max ? [...value].length : value.length;
    if (length < min) return 'must not be empty';
    if (length > max) return `must have at most ${max} characters`;
    if (value.includes('\u0000')) return 'must not contain the character U+0000';
    return value.isWellFormed() ? undefined : 'must not contain an unpaired surrogate';
  };
const oneOf = (values) => (value) => (values.includes(value) ? undefined : `must be one of ${values.join(', ')}`);
const flag = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const httpUrl = (value) =>
  typeof value === 'string' && /^https?:\/\/\S+$/i.test(value) && URL.canParse(value)
    ? text(2048)(value)
    : 'must be an absolute http or https URL';
const nullable = (check) => (value) => (value === null ? undefined : check(value));

const UPDATE = {
  provider: oneOf(PROVIDERS),
  type: nullable(oneOf(['INBOUND', 'OUTBOUND'])),
  promptType: nullable(oneOf(['SINGLE', 'MULTIPLE'])),
  name: nullable(text(255)),
  apiKey: text(4096, 1),
  assistantId: text(255, 1),
  language: nullable(text(255)),
  phoneNumber: nullable(text(255)),
  prompt: nullable(text(100_000)),
  callMonitoring: flag,
  isUsingDefaultApiKey: nullable(flag),
  webhookUrl: nullable(httpUrl),
  phoneNumberId: nullable(text(255)),
  webhookSecret: nullable(text(4096)),
};

const unknownNames = (object, known) =>
  Object.keys(object).flatMap((name) => (known.includes(name) ? [] : `${name} is not a known field`));

function check(body, required) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('body must be a JSON object');
  const issues = unknownNames(body, Object.keys(UPDATE));
  for (const [name, rule] of Object.entries(UPDATE)) {
    if (body[name] === undefined && !required.includes(name)) continue;
    const issue = rule(body[name]);
    if (issue) issues.push(`${name} ${issue}`);
  }
  if (issues.length > 0) throw badRequest(...issues);
  return body;
}

/** @throws HttpError 400 */
export const checkCreate = (body) => check(body, ['provider', 'apiKey', 'assistantId']);

/** @throws HttpError 400 */
export const checkUpdate = (body) => check(body, []);

/** Page and limit of a list, with their defaults. @throws HttpError 400 */
export function checkPage(query) {
  const issues = unknownNames(query, ['page', 'limit']);
  const integer = (name, fallback, max) => {
    if (query[name] === undefined) return fallback;
    const value = /^\d{1,16}$/.test(query[name]) ? Number(query[name]) : NaN;
    if (!(value >= 1 && value <= max)) issues.push(`${name} must be a whole number from 1 to ${max}`);
    return value;
  };
  const page = integer('page', 1, Number.MAX_SAFE_INTEGER);
  const limit = integer('limit', 25, 100);
  if (issues.length > 0) throw badRequest(...issues);
  return { page, limit };
}
