import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { PROJECT_ROOT } from '../../src/platform/project-root.js';
import { type ApiResponse, HttpClient } from './http.js';
import type { OpenApiDocument, OpenApiOperation, OpenApiValidator } from './openapi-validator.js';

/** The committed document, whose operations name the tests. Another test compares it with the served document. */
export const committedDocument = JSON.parse(
  readFileSync(path.join(PROJECT_ROOT, 'openapi.json'), 'utf8'),
) as OpenApiDocument;

/** An operation of the document. */
export interface DocumentedOperation {
  /** `METHOD /path/{template}`. */
  readonly name: string;
  readonly method: string;
  readonly template: string;
  readonly operation: OpenApiOperation;
  readonly statuses: readonly number[];
  /** The example request bodies of the document. */
  readonly bodies: readonly ExampleBody[];
}

/** An example request body: text in its media type, or a value to be sent as JSON. */
export interface ExampleBody {
  readonly mediaType: string;
  readonly value: unknown;
}

export const operations: readonly DocumentedOperation[] = Object.entries(committedDocument.paths).flatMap(
  ([template, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${template}`,
      method: method.toUpperCase(),
      template,
      operation,
      statuses: Object.keys(operation.responses).map(Number),
      bodies: Object.entries(operation.requestBody?.content ?? {}).flatMap(([mediaType, { example, examples = {} }]) =>
        [example, ...Object.values(examples).map(({ value }) => value)]
          .filter((value) => value !== undefined)
          .map((value) => ({ mediaType, value })),
      ),
    })),
);

/** The operations that document the status, for `it.each`. */
export const operationsWithStatus = (status: number) => operations.filter(({ statuses }) => statuses.includes(status));

/** The operations that accept an Idempotency-Key. */
export const retryable = operations.filter(({ operation }) =>
  operation.parameters?.some((parameter) => parameter.name === 'Idempotency-Key'),
);

/** The query parameters of all operations, for `it.each`. */
export const queryParameters = operations.flatMap((operation) =>
  (operation.operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) => ({ ...operation, parameter })),
);

/** What a query parameter needs beside it: the last page exists only if pages are small, a medium is that of a plan. */
export const QUERY_BESIDE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  page: { limit: '1' },
  medium: { dryRun: 'true' },
};

/** The operations that write and document no body. */
export const WITHOUT_BODY = operations.filter(({ method, operation }) => method !== 'GET' && !operation.requestBody);

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Bodies that an operation without a body would ignore. */
export const IGNORED_BODIES: readonly { readonly body: string | Buffer; readonly headers: Record<string, string> }[] = [
  ...['{"name":"x"}', '[]', 'null', 'x', '{}{}', `{${' '.repeat(2_000)}}`].map((body) => ({
    body,
    headers: JSON_TYPE,
  })),
  { body: 'name=x', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
  { body: gzipSync('{"name":"x"}'), headers: { ...JSON_TYPE, 'Content-Encoding': 'gzip' } },
  { body: '{}', headers: { ...JSON_TYPE, 'Content-Encoding': 'none' } },
];

/** Whether only an ADMIN may use the operation, even to read: the workspace settings. The document does not say this. */
export const requiresAdmin = ({ name, template }: { name: string; template: string }): boolean =>
  /^DELETE \/(runs\/\{id\}|agents\/\{id\}\/calls)$/.test(name) ||
  (/^\/workspace(\/|$)/.test(template) && name !== 'GET /workspace');

/** Whether a VIEWER may not use the operation, although it only reads. The document does not say this. */
export const requiresEditorToRead = ({ name }: { name: string }): boolean => /^GET .*\/(report|page)-links$/.test(name);

/**
 * The success status of an operation; if there are two, that of the request that writes (not of a dry run) and of a deletion
 * that can be undone. 206 is that of a request with a `Range`.
 * @param query of the request
 */
export function successStatus(
  { name, method, statuses }: DocumentedOperation,
  query: Readonly<Record<string, string>> = {},
): number {
  const successes = statuses.filter((candidate) => candidate < 206);
  const isFirst = query['dryRun'] === 'true' || (method === 'DELETE' && query['permanently'] !== 'true');
  const status = isFirst ? successes[0] : successes.at(-1);
  if (status === undefined) throw new Error(`${name} has no success status`);
  return status;
}

/** The schema of an operation's JSON body, with a top-level reference resolved; undefined if it has no body. */
export function bodySchema({ operation }: DocumentedOperation): BodySchema | undefined {
  const schema = operation.requestBody?.content['application/json']?.schema as { $ref?: string } | undefined;
  if (schema?.$ref === undefined) return schema as BodySchema | undefined;
  return committedDocument.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
}

/** The Content-Type header for an example body. */
export const mediaTypeOf = (example: ExampleBody | undefined): Record<string, string> =>
  example ? { 'Content-Type': example.mediaType } : {};

/** Whether a body is sent as a form. */
export const isForm = (headers: Readonly<Record<string, string>>): boolean =>
  headers['Content-Type'] === 'multipart/form-data';

/** Finds an operation by name. */
export const operationNamed = (wanted: string): DocumentedOperation => {
  const operation = operations.find(({ name }) => name === wanted);
  if (!operation) throw new Error(`The document has no ${wanted}`);
  return operation;
};

/** The table whose lock blocks a POST, by collection, if it is not the table of the same name. */
export const LOCKED_TABLES: Readonly<Record<string, string>> = {
  // A new key refers to its user; locking the table of keys itself would block authentication.
  'workspace/api-keys': 'users',
  // The default key.
  providers: 'provider_keys',
  'tool-calls': 'reporting_attempts',
  'workspace/webhooks': 'webhook_endpoints',
  'workspace/webhook-deliveries': 'webhook_deliveries',
};

/** The largest allowed body in bytes, if it is not 1 MiB. */
export const BODY_LIMITS: Readonly<Record<string, number>> = {
  'POST /agents/{agentId}/evaluations/import': 10 * 1024 * 1024,
  // Its recording and its other fields.
  'POST /agents/{id}/calls/import': 207 * 1024 * 1024,
};

/** Ids that no resource has; most of them are not even ids. */
export const UNKNOWN_IDS: readonly string[] = [
  ...[randomUUID(), `${randomUUID()} `, '1', 'x', 'nope', 'not-a-uuid', 'null', '...', '%', '%25', '%00', '{id}'],
  ...["' OR 1=1 --", '🍝', 'ä€🙂', 'a'.repeat(2_000)],
];

/** Requests that match no operation, although some look similar to one. */
export const UNROUTED = [
  ['POST', '/'],
  ['GET', '/nope'],
  ['GET', '/agents/'],
  ['GET', '/Agents'],
  ['PUT', '/agents'],
  ['POST', '/healthz'],
  ['DELETE', '/runs/nope/metrics'],
  ['GET', '/docs/swagger-ui-bundle.js.map'],
  ['GET', '/docs/..%2f..%2fpackage.json'],
  ['PROPFIND', '/workspace/api-keys'],
  ['POST', '/unknown'],
] as const;

/** The part of a body's schema that the tests read. */
export interface BodySchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** Whether the resource can be read, by its id or in its list. */
export async function exists(path: string, client: HttpClient): Promise<boolean> {
  if (path.includes('?')) return (await client.get<any>(path)).body.data.length > 0;
  const [id, list] = [path.slice(path.lastIndexOf('/') + 1), path.slice(0, path.lastIndexOf('/'))];
  const isRead = path.endsWith('/connection') || operations.some(({ name }) => name === `GET ${list}/{id}`);
  if (isRead) return (await client.get(path)).status === 200;
  const { body } = await client.get<any>(`${list}?limit=100`);
  return body.data.some((each: { id: string }) => each.id === id);
}

/** Sends requests, validates each response against the document, and records which statuses each operation returned. */
export class Prober {
  private readonly covered = new Map<string, Set<number>>();

  constructor(
    private readonly url: string,
    private readonly validator: OpenApiValidator,
  ) {}

  /** Sends a request to the operation, and expects the status and a response that conforms to the document. */
  async expect(
    { name, method }: DocumentedOperation,
    status: number,
    request: { path: string; key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<ApiResponse<any>> {
    const response = await new HttpClient(this.url, request.key).send(
      method,
      request.path,
      request.body,
      request.headers,
    );
    this.check(name, status, response);
    return response;
  }

  /** Expects the status of a response sent by other means, and that it conforms to the document. */
  check(name: string, status: number, response: ApiResponse<any>): void {
    expect({
      status: response.status,
      violations: this.validator.check(name, response.status, response.headers, response.body),
      ...(response.status !== status && { body: response.body }),
    }).toEqual({ status, violations: [] });
    this.covered.set(name, (this.covered.get(name) ?? new Set()).add(response.status));
  }

  /** Documented statuses that no request has returned, as `METHOD /path status`. */
  uncovered(): string[] {
    return operations.flatMap(({ name, statuses }) => {
      return statuses.filter((status) => !this.covered.get(name)?.has(status)).map((status) => `${name} ${status}`);
    });
  }
}

/**
 * Renamed to cause 500, as `table` or `table.column`: one entry for each resource, nothing that the lookup of API keys
 * reads. An operation that returns another status lacks its table here.
 */
export const RENAMED_TABLES = [
  'agents',
  'personalities',
  'evaluations',
  'runs',
  'schedules',
  'reporting_attempts',
  'provider_keys',
  'webhook_endpoints',
  'webhook_deliveries',
  'api_keys.name',
  'workspaces.name',
];

/** Replaces the suffix `from` by `to` in the names of tables and columns, given as `table` or `table.column`. */
export async function renameTables(
  databaseUrl: string,
  names: readonly string[],
  from: string,
  to: string,
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  for (const [table, column] of names.map((name) => name.split('.'))) {
    await client.query(
      column === undefined
        ? `ALTER TABLE ${table}${from} RENAME TO ${table}${to}`
        : `ALTER TABLE ${table} RENAME COLUMN ${column}${from} TO ${column}${to}`,
    );
  }
  await client.end();
}

/** Runs `work` while the table is locked. `blocked` resolves when a statement of another session waits for the lock. */
export async function whileLocked<T>(
  databaseUrl: string,
  table: string,
  work: (blocked: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    return await work(async () => {
      for (;;) {
        const { rows } = await client.query(
          `SELECT 1 FROM pg_locks WHERE relation = $1::regclass AND NOT granted AND database =
             (SELECT oid FROM pg_database WHERE datname = current_database())`,
          [table],
        );
        if (rows.length > 0) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
  } finally {
    // Ends the session, which rolls back its transaction and releases the lock.
    await client.end();
  }
}

type ParameterSchema = {
  type: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  enum?: string[];
  pattern?: string;
  example?: string;
};

/** A text that the pattern allows: the example, or else the word that is its first alternative. */
const textFor = ({
  pattern = '',
  example = /^\^\((\w+)\|/.exec(pattern)?.[1] ?? '',
}: Partial<ParameterSchema>): string => example;

/** Values that the schema of a query parameter allows: all values of an enumeration, or boundary values. */
export function allowedValues(schema: object): string[] {
  const { type, minimum = 0, maximum, minLength = 0, maxLength = 10, ...rest } = schema as ParameterSchema;
  const { enum: values, pattern } = rest;
  if (values) return values;
  if (pattern !== undefined) return [textFor(rest)];
  if (type === 'integer') return [minimum, minimum + 1, ...(maximum === undefined ? [] : [maximum])].map(String);
  return ['a'.repeat(Math.max(minLength, 1)), '%_\\', 'ä€🙂', 'a'.repeat(maxLength)];
}

/** Values that the schema of a query parameter rejects: just past its bounds, or of another type. */
export function rejectedValues(schema: object): string[] {
  const { type, minimum = 0, maximum, maxLength = 10, ...rest } = schema as ParameterSchema;
  const { enum: values, pattern } = rest;
  if (pattern !== undefined) return ['', `${textFor(rest)}x`, `x${textFor(rest)}`, 'a'.repeat(maxLength)];
  if (values) {
    const wrong = ['', [...values, values[0]].join(','), withSwappedCase(values[0] ?? '')];
    // Digits have no case.
    return wrong.filter((value) => !values.includes(value));
  }
  if (type === 'integer') {
    const beyond = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [String(maximum + 1)];
    return ['', 'abc', '1.5', '1e2', ' 1', '-1', String(minimum - 1), '9'.repeat(30), ...beyond];
  }
  return ['', 'a'.repeat(maxLength + 1), '\u0000'];
}

/** The same text in the other letter case, which is not a value of an enumeration. */
export const withSwappedCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
