import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import { insertEvaluation, insertPersonality, insertRun, type Owner } from '../factories/rows.js';
import { type Answer, HttpClient } from './http.js';
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
  readonly bodies: readonly unknown[];
}

export const operations: readonly DocumentedOperation[] = Object.entries(committedDocument.paths).flatMap(
  ([template, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${template}`,
      method: method.toUpperCase(),
      template,
      operation,
      statuses: Object.keys(operation.responses).map(Number),
      bodies: Object.values(operation.requestBody?.content['application/json']?.examples ?? {}).map(
        (example) => example.value,
      ),
    })),
);

/** Those operations that can answer the status, for `it.each`. */
export const answering = (status: number) => operations.filter(({ statuses }) => statuses.includes(status));

/** A workspace and a key of it. */
export interface Subject extends Owner {
  readonly apiKey: string;
}

/** Makes the resource that a path names by its parameter, and fills it in. */
export async function pathFor(
  url: string,
  manager: EntityManager,
  subject: Subject,
  template: string,
): Promise<string> {
  const [, collection] = template.split('/');
  const parameter = /\{\w+\}/;
  if (!parameter.test(template)) return template;
  const agent = await new HttpClient(url, subject.apiKey).post('/agents', {
    provider: 'AGENT_PROVIDER_1',
    assistantId: 'assistant-1',
    apiKey: 'provider-key-1',
  });
  const agentId: string = agent.body.data.id;
  const make: Record<string, () => Promise<{ id: string }>> = {
    agents: async () => {
      // Lists below an agent must have something to show, or their items would go unchecked.
      await insertEvaluation(manager, subject, agentId);
      await insertRun(manager, subject, agentId);
      return { id: agentId };
    },
    evaluations: () => insertEvaluation(manager, subject, agentId),
    personalities: () => insertPersonality(manager, subject),
    runs: () => insertRun(manager, subject, agentId),
  };
  const resource = make[collection ?? ''];
  if (!resource) throw new Error(`No resource is known for ${template}: add it here`);
  return template.replace(parameter, (await resource()).id);
}

/** Sends requests, holds every answer against the document, and remembers which statuses each operation has shown. */
export class Prober {
  private readonly seen = new Map<string, Set<number>>();

  constructor(
    private readonly url: string,
    private readonly validator: OpenApiValidator,
  ) {}

  /** Sends a request of the operation; the answer must have the status and conform in everything. */
  async expect(
    { name, method }: DocumentedOperation,
    status: number,
    request: { path: string; key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer<any>> {
    const answer = await new HttpClient(this.url, request.key).send(
      method,
      request.path,
      request.body,
      request.headers,
    );
    this.hold(name, status, answer);
    return answer;
  }

  /** Holds an answer that was fetched otherwise. */
  hold(name: string, status: number, answer: Answer<any>): void {
    expect({
      status: answer.status,
      violations: this.validator.check(name, answer.status, answer.headers, answer.body),
      ...(answer.status !== status && { body: answer.body }),
    }).toEqual({ status, violations: [] });
    this.seen.set(name, (this.seen.get(name) ?? new Set()).add(answer.status));
  }

  /** Documented answers that no request has shown, as `METHOD /path status`. */
  unseen(): string[] {
    return operations.flatMap(({ name, statuses }) => {
      return statuses.filter((status) => !this.seen.get(name)?.has(status)).map((status) => `${name} ${status}`);
    });
  }
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
};

/** Values that the schema of a query parameter allows: every one of an enumeration, and those at the edges. */
export function allowedValues(schema: object): string[] {
  const { type, minimum = 0, maximum, minLength = 0, maxLength = 10, enum: values } = schema as ParameterSchema;
  if (values) return values;
  if (type === 'integer') return [minimum, minimum + 1, ...(maximum === undefined ? [] : [maximum])].map(String);
  return ['a'.repeat(Math.max(minLength, 1)), '%_\\', 'ä€🙂', 'a'.repeat(maxLength)];
}

/** Values just beyond what the schema of a query parameter allows, and of no kind at all. */
export function refusedValues(schema: object): string[] {
  const { type, minimum = 0, maximum, maxLength = 10, enum: values } = schema as ParameterSchema;
  if (values) return ['', values.join(','), (values[0] ?? '').toLowerCase()];
  if (type === 'integer') {
    const beyond = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [String(maximum + 1)];
    return ['', 'abc', '1.5', '1e2', ' 1', '-1', String(minimum - 1), '9'.repeat(30), ...beyond];
  }
  return ['', 'a'.repeat(maxLength + 1), '\u0000'];
}
