import { API_VERSION } from '../api-version.js';
import { ERROR_TABLE, HEADER_TABLE } from './responses.js';

/** Introduction of the document: what the service is and how to use the API. */
const DESCRIPTION =
  `Register voice AI agents, describe simulated callers and test scenarios, and read the results of test runs. The API
is meant for scripts and CI pipelines. Every resource belongs to one workspace and records the user that created it.

To try every example as it stands, start the reference agent with \`npm run reference-agent\` and the service with
\`OUTBOUND_ALLOWED_NETWORKS=127.0.0.0/8 npm start\`, press _Authorize_ and enter an ADMIN key. Then execute **(1)** \`POST /personalities\`,
and **(2)** \`POST /agents\` and \`PUT /agents/{id}/connection\`, which connects the agent with the reference agent. From then on the page
replaces the ids in examples by those of the newest resources that it has created or listed. The chapters below the
operations describe what all of them share: headers, errors, lists, rate limits and retries. The document itself is
[openapi.json](openapi.json).

## Authentication

Send \`Authorization: Bearer <API key>\` with every request. A key belongs to one workspace and has a role: \`VIEWER\` reads,
\`EDITOR\` also writes, \`ADMIN\` also changes the workspace's settings. A request without a key, or with another scheme, gets 401
\`Authorization not provided\`; an unknown or revoked key gets 401 \`Invalid API key\`, an expired one \`Expired API key\`.
A resource of another workspace, or an operation beyond the role of the key, gets 403. Health checks and this documentation need no key.

## Success

A single resource is returned as \`message\` and \`data\`, a list as \`meta\` and \`data\`. Timestamps are ISO 8601 in UTC with
milliseconds. Later versions may add fields to a response, so clients should ignore fields that they do not know.

## Lists

Lists are ordered newest first. \`page\` starts at 1; \`limit\` is 1 to 100, by default 25. A page past the last one has
empty \`data\` and a correct \`meta\`.

## Errors

Every error has the same flat body: a \`code\` for programs, a \`message\` for people and, on 400 and wherever it helps, \`issues\`
with one entry per cause that begins with the path of the field. Unknown body fields and query parameters are refused with
400, so that typos are caught. A request that is not valid HTTP, or whose headers exceed 16 KiB, gets 400 on any path.

ERROR_TABLE

## Headers

Every response has these headers:

HEADER_TABLE

## Rate limits

Requests are counted per workspace in windows of 60 seconds, all its keys together: by default 60 on the free plan, 300 on
the pro plan, and an individual rate on the enterprise plan. Requests without a valid key are counted per client address, at the free
rate. Every response carries \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`; beyond the limit the response
is 429 with \`Retry-After\`. Health checks are never refused.

## Retries

Send an \`Idempotency-Key\` with a POST to make it safe to repeat: for 24 hours, the same key with the same body returns the
first response again, marked \`Idempotent-Replayed: true\`. With another body the response is 422, and 409 while the first
request is still in progress. A response with a secret that is shown only once is replayed only to the API key that received it; another
key gets 409.

## Tracing

Every response carries \`X-Request-Id\`: your own if you sent one of 1 to 128 characters of \`A-Za-z0-9._-\`. Quote it when you
report a problem.`
    // Swagger UI renders every single line break.
    .replace(/([^\n])\n(?!\n)/g, '$1 ')
    .replace('ERROR_TABLE', ERROR_TABLE)
    .replace('HEADER_TABLE', HEADER_TABLE);

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
  { name: 'Runs', description: 'Test runs of an agent and their results' },
  { name: 'Schedules', description: 'When runs of an agent are started, and what became of each due time' },
  { name: 'Workspace settings', description: 'The workspace, its API keys and its default keys for agent providers' },
  { name: 'Webhooks', description: 'Endpoints that receive the events of test runs, and the deliveries to them' },
  { name: 'Health', description: 'For load balancers and orchestrators; no key needed, never rate limited' },
] as const;

export type Tag = (typeof TAGS)[number]['name'];

export const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key of the workspace, as shown when it was created: `vat_` and 36 characters',
} as const;
