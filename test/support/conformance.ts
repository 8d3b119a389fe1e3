import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { type ApiResponse, HttpClient } from './http.js';
import type { OpenApiDocument, OpenApiOperation, OpenApiValidator } from './openapi-validator.js';

/** The committed document. Tests are named by its operations; another test holds it against the served one. */
export const committedDocument = JSON.parse(
  readFileSync(path.resolve(__dirname, '../../openapi.json'), 'utf8'),
) as OpenApiDocument;

/** An operation of the document as a test reads it. */
export interface DocumentedOperation {
  /** `METHOD /path/{template}`. */
  readonly name: string;
  readonly method: string;
  readonly template: string;
  readonly operation: OpenApiOperation;
  readonly statuses: readonly number[];
  /** The request bodies of the document, as they stand. */
  readonly bodies: readonly ExampleBody[];
}

/** An example of a request's body: text of its media type, or a value that becomes JSON. */
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

/** Those operations that can answer the status, for `it.each`. */
export const operationsWithStatus = (status: number) => operations.filter(({ statuses }) => statuses.includes(status));

/** POSTs that may be retried under a key. */
export const retryable = operations.filter(({ operation }) =>
  operation.parameters?.some((parameter) => parameter.name === 'Idempotency-Key'),
);

/** What an ADMIN alone may do, reading included: the settings (contract's extensions). The document has no field for it. */
export const requiresAdmin = ({ name, template }: { name: string; template: string }): boolean =>
  /^\/workspace(\/|$)/.test(template) && name !== 'GET /workspace';

/** The status of an operation's success: of two, that of what was written rather than only planned. */
export function successStatus({ name, statuses }: DocumentedOperation): number {
  const status = statuses.findLast((candidate) => candidate < 300);
  if (status === undefined) throw new Error(`${name} has no success`);
  return status;
}

/** The schema of an operation's JSON body with its references resolved at the top; undefined without one. */
export function bodySchema({ operation }: DocumentedOperation): BodySchema | undefined {
  const schema = operation.requestBody?.content['application/json']?.schema as { $ref?: string } | undefined;
  if (schema?.$ref === undefined) return schema as BodySchema | undefined;
  return committedDocument.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
}

/** The header that a body is sent under. */
export const mediaTypeOf = (example: ExampleBody | undefined): Record<string, string> =>
  example ? { 'Content-Type': example.mediaType } : {};

/** An operation by its name. */
export const operationNamed = (wanted: string): DocumentedOperation => {
  const operation = operations.find(({ name }) => name === wanted);
  if (!operation) throw new Error(`The document has no ${wanted}`);
  return operation;
};

/** What a POST waits for while it is locked, by its collection, where that is not the table of the same name. */
export const LOCKED_TABLES: Readonly<Record<string, string>> = {
  // A new key refers to its user; the table of the keys themselves is needed to tell who is calling.
  'workspace/api-keys': 'users',
  'workspace/webhooks': 'webhook_endpoints',
  'workspace/webhook-deliveries': 'webhook_deliveries',
};

/** The largest body in bytes, where it is not 1 MiB. */
export const BODY_LIMITS: Readonly<Record<string, number>> = {
  'POST /agents/{agentId}/evaluations/import': 10 * 1024 * 1024,
};

/** Requests that are no operation, although some look like one. */
export const UNROUTED = [
  ['GET', '/'],
  ['GET', '/nope'],
  ['GET', '/agents/'],
  ['GET', '/Agents'],
  ['PUT', '/agents'],
  ['POST', '/healthz'],
  ['DELETE', '/runs/nope/metrics'],
  ['GET', '/docs/swagger-ui-bundle.js.map'],
  ['GET', '/docs/..%2f..%2fpackage.json'],
] as const;

/** As much of the schema of a body as a test reads. */
export interface BodySchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** Sends requests, holds every answer against the document, and remembers which statuses each operation has shown. */
export class Prober {
  private readonly covered = new Map<string, Set<number>>();

  constructor(
    private readonly url: string,
    private readonly validator: OpenApiValidator,
  ) {}

  /** Sends a request of the operation; the answer must have the status and conform in everything. */
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

  /** Holds an answer that was fetched otherwise. */
  check(name: string, status: number, response: ApiResponse<any>): void {
    expect({
      status: response.status,
      violations: this.validator.check(name, response.status, response.headers, response.body),
      ...(response.status !== status && { body: response.body }),
    }).toEqual({ status, violations: [] });
    this.covered.set(name, (this.covered.get(name) ?? new Set()).add(response.status));
  }

  /** Documented answers that no request has shown, as `METHOD /path status`. */
  uncovered(): string[] {
    return operations.flatMap(({ name, statuses }) => {
      return statuses.filter((status) => !this.covered.get(name)?.has(status)).map((status) => `${name} ${status}`);
    });
  }
}

/** Renames tables and columns, given as `table` or `table.column`, from one ending of their names to another. */
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

/** Runs `work` while other statements on the table wait. `blocked` resolves once one does. */
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
    // Ending the session rolls its transaction back and lets the others go on.
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

/** Values that the schema of a query parameter allows: every one of an enumeration, and those at the edges. */
export function allowedValues(schema: object): string[] {
  const { type, minimum = 0, maximum, minLength = 0, maxLength = 10, ...rest } = schema as ParameterSchema;
  const { enum: values, pattern, example } = rest;
  if (values) return values;
  if (pattern !== undefined) return [example ?? ''];
  if (type === 'integer') return [minimum, minimum + 1, ...(maximum === undefined ? [] : [maximum])].map(String);
  return ['a'.repeat(Math.max(minLength, 1)), '%_\\', 'ä€🙂', 'a'.repeat(maxLength)];
}

/** Values just beyond what the schema of a query parameter allows, and of no kind at all. */
export function rejectedValues(schema: object): string[] {
  const { type, minimum = 0, maximum, maxLength = 10, ...rest } = schema as ParameterSchema;
  const { enum: values, pattern, example } = rest;
  if (pattern !== undefined) return ['', `${example}x`, `x${example}`, 'a'.repeat(maxLength)];
  if (values) return ['', [...values, values[0]].join(','), withSwappedCase(values[0] ?? '')];
  if (type === 'integer') {
    const beyond = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [String(maximum + 1)];
    return ['', 'abc', '1.5', '1e2', ' 1', '-1', String(minimum - 1), '9'.repeat(30), ...beyond];
  }
  return ['', 'a'.repeat(maxLength + 1), '\u0000'];
}

/** The same word in another case, which is no value of an enumeration. */
export const withSwappedCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
