import { API_VERSION } from '../api-version.js';

/** What the service is and how to speak to it, for whoever reads the document before anything else. */
const DESCRIPTION =
  `Register voice AI agents, describe simulated callers and test scenarios, and read what the test runs came to. The API
is meant for scripts and CI pipelines. Every resource belongs to one workspace and records the user that created it.

## Authentication

Send \`Authorization: Bearer <API key>\` with every request. A key belongs to one workspace and has a role: \`VIEWER\` reads,
\`EDITOR\` also writes, \`ADMIN\` also changes the workspace's settings. No key, or another scheme, answers 401
\`Authorization not provided\`; an unknown, expired or revoked key answers 401 \`Invalid API key\`. A resource of another
workspace, or an operation beyond the role of the key, answers 403. Health checks and this documentation need no key.

## Success

A single resource comes as \`message\` and \`data\`. A list comes as \`meta\` and \`data\`. Timestamps are ISO 8601 in UTC with
milliseconds. A later version may add fields to a response, so clients should ignore those that they do not know.

## Lists

Lists are ordered newest first. \`page\` counts from 1 and \`limit\` is 1 to 100, 25 unless given. A page past the last one has an
empty \`data\` and a true \`meta\`.

## Errors

Every error has the same flat body: a \`code\` for programs, a \`message\` for people and, on 400 and wherever it helps, \`issues\`
with one entry per cause that begins with the path of the field. Unknown body fields and query parameters are refused with
400, so that a typing error does not pass silently. A request that is not valid HTTP, or whose headers exceed 16 KiB,
answers 400 on any path.

## Rate limits

Requests are counted per workspace in windows of 60 seconds, all its keys together: by default 60 on the free plan, 300 on
the pro plan, and a rate of its own on the enterprise plan. Without a valid key the client address is counted, at the free
rate. Every response carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`; beyond the limit the answer
is 429 with \`Retry-After\`. Health checks are never refused.

## Retries

Send an \`Idempotency-Key\` with a POST to make it safe to repeat: for 24 hours the same key with the same body answers the
first response again, marked \`Idempotent-Replayed: true\`. With another body it answers 422, and 409 while the first request
is still in progress.

## Tracing

Every response carries \`X-Request-Id\`, yours where you sent one of 1 to 128 characters of \`A-Za-z0-9._-\`. Quote it when you
report a fault.`
    // Swagger UI shows a single line break as one.
    .replace(/([^\n])\n(?!\n)/g, '$1 ');

/** The head of the OpenAPI document. */
export const INFO = {
  title: 'Voice Agent Testing Service',
  summary: 'The open, self-hostable testing service for voice AI agents',
  description: DESCRIPTION,
  version: API_VERSION,
  contact: { name: 'The administrator of this installation' },
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
};

export const TAGS = [
  { name: 'Agents', description: 'Voice agents under test, which run on an external provider' },
  { name: 'Personalities', description: 'Simulated callers: how they speak and behave' },
  { name: 'Evaluations', description: 'Test scenarios, each attached to an agent' },
  { name: 'Runs', description: 'Test runs of an agent and what they came to' },
  { name: 'Workspace settings', description: 'The workspace, its API keys and its default keys at agent providers' },
  { name: 'Webhooks', description: 'Where the events of test runs are sent, and what became of each' },
  { name: 'Health', description: 'For load balancers and orchestrators; without a key and never refused' },
];

export const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key of the workspace, as printed when it was made: `vat_` and 36 characters',
} as const;
