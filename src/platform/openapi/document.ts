import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/domain-error.js';
import { AGENT_PROVIDERS } from '../config/agent-providers.js';
import { EXAMPLE_ID, EXAMPLE_TOKEN, KIND_OF_COLLECTION } from '../http/dto/example-ids.js';
import { ErrorBody } from '../http/responses/error-body.js';
import { BEARER, INFO, TAGS } from './info.js';
import { namedSchemas } from './named-schemas.js';
import { ERRORS_EXTENSION } from './operation.decorator.js';
import { ordered } from './order.js';
import { ERROR_RESPONSES, errorResponses, HEADERS, headers } from './responses.js';
import { closed, exampleOf, readable, resolve, tidy, withoutDefaults } from './schemas.js';
import {
  type Components,
  METHODS,
  type OperationObject,
  type Parameter,
  type Reference,
  type Response,
  type Responses,
  type Schema,
} from './types.js';

type Schemas = NonNullable<Components['schemas']>;
type MarkedOperation = OperationObject & { [ERRORS_EXTENSION]?: readonly ErrorCode[] };

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes a retry safe: for 24 hours, the same key with the same body returns the first response again',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
} as const;

/**
 * The OpenAPI 3.1 document of the whole API, in a stable order; it depends on the code alone.
 * @param webhooks the webhook events that the service sends, by type
 */
export function buildDocument(app: INestApplication, webhooks: OpenAPIObject['webhooks'] = {}): OpenAPIObject {
  const head = {
    openapi: '3.1.0',
    info: INFO,
    // Relative to the document, so that it also holds behind a proxy that adds a prefix.
    servers: [{ url: '.', description: 'This installation' }],
    tags: [...TAGS],
    components: { securitySchemes: { bearer: BEARER } },
  };
  const scanned = SwaggerModule.createDocument(app, head, {
    operationIdFactory: (_controller, method) => method,
    extraModels: [ErrorBody],
    // Each operation names its tag itself.
    autoTagControllers: false,
  });
  const schemas = { ...tidyAll(scanned.components?.schemas ?? {}), ...namedSchemas() };
  for (const [path, item] of Object.entries(scanned.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      for (const parameter of operation.parameters ?? []) addPathExample(parameter, path);
      adaptRequest(operation, schemas, method === 'patch');
      item[method] = method === 'post' ? idempotent(operation, schemas) : completed(operation, schemas);
    }
  }
  const components = { ...scanned.components, schemas, headers: HEADERS, responses: ERROR_RESPONSES };
  // Nest adds entries to the head; `head` must win.
  return ordered({
    ...scanned,
    ...head,
    webhooks,
    components: { ...components, schemas: readable(schemas), securitySchemes: head.components.securitySchemes },
  });
}

function tidyAll(schemas: Schemas): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, tidy(schema as Schema)]));
}

/** The example of a path parameter: for an id, that of the resource which the segment before it names. */
function addPathExample(parameter: Parameter | Reference, path: string): void {
  if (!('in' in parameter) || parameter.in !== 'path' || parameter.example !== undefined) return;
  if (parameter.name === 'provider') parameter.example = AGENT_PROVIDERS[0];
  if (parameter.name === 'token') parameter.example = EXAMPLE_TOKEN;
  // Without variables, the key of a case is the id of its evaluation.
  if (parameter.name === 'key') parameter.example = EXAMPLE_ID.evaluation;
  const collection = new RegExp(`([\\w-]+)/\\{${parameter.name}\\}`).exec(path)?.[1] ?? '';
  const kind = KIND_OF_COLLECTION[collection];
  if (kind !== undefined) parameter.example = EXAMPLE_ID[kind];
}

/** Adapts the schema of a request body, which the field decorators cannot tell from that of a response. */
function adaptRequest({ requestBody }: OperationObject, schemas: Schemas, isPartial: boolean): void {
  if (!requestBody || !('content' in requestBody)) return;
  for (const { schema } of Object.values(requestBody.content)) {
    const name = schema && '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined;
    if (schema === undefined || name === undefined) continue;
    const request = closed(resolve(schema, schemas));
    schemas[name] = isPartial ? withoutDefaults(request) : request;
  }
}

/** A POST as it is documented: `Idempotency-Key` and what it adds to the responses. */
function idempotent(operation: OperationObject, schemas: Schemas): OperationObject {
  // A retry can only differ from the first request by its body.
  const errors: ErrorCode[] = operation.requestBody ? ['CONFLICT', 'UNPROCESSABLE_CONTENT'] : ['CONFLICT'];
  const parameters = [...(operation.parameters ?? []), IDEMPOTENCY_KEY];
  return completed({ ...operation, parameters }, schemas, errors, headers('Idempotent-Replayed'));
}

/** The operation with examples and headers of its successes, and with all its errors. */
function completed(
  operation: OperationObject,
  schemas: Schemas,
  moreErrors: readonly ErrorCode[] = [],
  successHeaders = headers(),
): OperationObject {
  const { [ERRORS_EXTENSION]: errors = [], ...rest } = operation as MarkedOperation;
  const responses = {
    ...successes(operation, schemas, successHeaders),
    ...errorResponses([...errors, ...moreErrors]),
  };
  return { ...rest, responses };
}

function successes(
  operation: OperationObject,
  schemas: Schemas,
  responseHeaders: Record<string, Reference>,
): Responses {
  const entries = Object.entries(operation.responses).map(([status, response]) => {
    const { content = {}, ...rest } = response as Response & {
      content?: Record<string, { schema: Schema; example?: object }>;
    };
    const own = 'headers' in rest ? rest.headers : {};
    const media = Object.entries(content).map(([type, { schema, example }]) => {
      // A file comes with its example; the example of an envelope is made of those of its fields.
      const whole = schema.properties ? merged(exampleOf(schema, schemas), example) : example;
      return [type, { schema, example: whole }] as const;
    });
    return [status, { ...rest, headers: { ...responseHeaders, ...own }, content: Object.fromEntries(media) }] as const;
  });
  return Object.fromEntries(entries);
}

/** The example of the schema, with the operation's overrides of `data`. */
function merged(example: unknown, data: object | undefined): unknown {
  const envelope = example as { data?: object };
  return data === undefined ? envelope : { ...envelope, data: { ...envelope.data, ...data } };
}
