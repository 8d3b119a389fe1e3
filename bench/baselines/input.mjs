// What the service checks of a request for agents, by hand and with the same sentences.

/** An answer other than success. */
export class Fault extends Error {
  constructor(status, code, message, issues) {
    super(message);
    this.status = status;
    this.body = { code, message, ...(issues && { issues: issues.map((issue) => ({ message: issue })) }) };
  }
}

export const badRequest = (...issues) => new Fault(400, 'BAD_REQUEST', 'Invalid input data', issues);
export const notFound = () => new Fault(404, 'NOT_FOUND', 'Not found');
export const forbidden = () => new Fault(403, 'FORBIDDEN', 'Insufficient access');
export const unauthorized = (message) => new Fault(401, 'UNAUTHORIZED', message);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PROVIDERS = ['AGENT_PROVIDER_1', 'AGENT_PROVIDER_2', 'AGENT_PROVIDER_3', 'AGENT_PROVIDER_4'];

/** @throws Fault 404 */
export function uuid(id) {
  if (!UUID.test(id)) throw notFound();
  return id;
}

const text =
  (most, least = 0) =>
  (value) => {
    if (typeof value !== 'string') return 'must be a string';
    // Only a text with surrogate pairs has fewer code points than units.
    const length = value.length > most ? [...value].length : value.length;
    if (length < least) return 'must not be empty';
    if (length > most) return `must have at most ${most} characters`;
    if (value.includes('\u0000')) return 'must not contain the character U+0000';
    return value.isWellFormed() ? undefined : 'must not contain an unpaired surrogate';
  };
const oneOf = (values) => (value) => (values.includes(value) ? undefined : `must be one of ${values.join(', ')}`);
const flag = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const webAddress = (value) => {
  if (typeof value !== 'string') return 'must be a string';
  return /^https?:\/\/[^\s]+$/i.test(value) && URL.canParse(value)
    ? text(2048)(value)
    : 'must be an absolute http or https address';
};
const orNull = (check) => (value) => (value === null ? undefined : check(value));

/** The fields that both requests take, by the name in JSON. */
const CHANGEABLE = {
  provider: oneOf(PROVIDERS),
  type: orNull(oneOf(['INBOUND', 'OUTBOUND'])),
  promptType: orNull(oneOf(['SINGLE', 'MULTIPLE'])),
  name: orNull(text(255)),
  apiKey: text(4096, 1),
  assistantId: text(255, 1),
  language: orNull(text(255)),
  phoneNumber: orNull(text(255)),
  prompt: orNull(text(100_000)),
  callMonitoring: flag,
  isUsingDefaultApiKey: orNull(flag),
  webhookUrl: orNull(webAddress),
  phoneNumberId: orNull(text(255)),
  webhookSecret: orNull(text(4096)),
};
const ON_CREATE = {
  ...CHANGEABLE,
  created_at: text(255),
  updated_at: text(255),
  createdByUserId: text(255),
  deletedAt: orNull(text(255)),
  workspaceId: orNull(text(255)),
};

function checkFields(body, fields, required) {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('body must be a JSON object');
  const issues = [];
  for (const name of Object.keys(body)) if (!Object.hasOwn(fields, name)) issues.push(`${name} is not a known field`);
  for (const [name, check] of Object.entries(fields)) {
    const value = body[name];
    if (value === undefined && !required.includes(name)) continue;
    const fault = check(value);
    if (fault) issues.push(`${name} ${fault}`);
  }
  if (issues.length > 0) throw badRequest(...issues);
  return body;
}

/** @throws Fault 400 */
export function checkCreate(body) {
  const required = body?.isUsingDefaultApiKey ? ['provider', 'assistantId'] : ['provider', 'apiKey', 'assistantId'];
  return checkFields(body, ON_CREATE, required);
}

/** @throws Fault 400 */
export const checkUpdate = (body) => checkFields(body, CHANGEABLE, []);

const search = text(255, 1);

function wholeNumber(name, given, otherwise, most, issues) {
  if (given === undefined) return otherwise;
  const value = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : NaN;
  if (!Number.isSafeInteger(value)) issues.push(`${name} must be a whole number`);
  else if (value < 1) issues.push(`${name} must not be less than 1`);
  else if (value > most) issues.push(`${name} must not be greater than ${most}`);
  return value;
}

/** The parameters of the list, with their defaults. @throws Fault 400 */
export function checkList(query) {
  const issues = [];
  for (const name of Object.keys(query)) {
    if (!['page', 'limit', 'provider', 'search'].includes(name)) issues.push(`${name} is not a known field`);
  }
  const page = wholeNumber('page', query.page, 1, Number.MAX_SAFE_INTEGER, issues);
  const limit = wholeNumber('limit', query.limit, 25, 100, issues);
  if (issues.length === 0 && !Number.isSafeInteger((page - 1) * limit)) {
    issues.push('page must not lead beyond the safe integer range');
  }
  const fault = query.search === undefined ? undefined : search(query.search);
  if (query.provider !== undefined && !PROVIDERS.includes(query.provider)) {
    issues.push(`provider must be one of ${PROVIDERS.join(', ')}`);
  }
  if (fault) issues.push(`search ${fault}`);
  if (issues.length > 0) throw badRequest(...issues);
  return { page, limit, provider: query.provider, search: query.search };
}
