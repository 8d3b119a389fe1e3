import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { ErrorCode } from '../errors/domain-error.js';
import { ErrorBody } from '../http/responses/error-body.js';
import { BEARER, INFO, TAGS } from './info.js';
import { namedSchemas } from './named-schemas.js';
import { ERRORS_EXTENSION } from './operation.decorator.js';
import { ordered } from './order.js';
import { ERROR_RESPONSES, errorResponses, HEADERS, headers } from './responses.js';
import { closed, exampleOf, resolve, tidy, withoutDefaults } from './schemas.js';
import { type Components, METHODS, type OperationObject, type Response, type Responses, type Schema } from './types.js';

type Schemas = NonNullable<Components['schemas']>;

/**
 * The OpenAPI 3.1 document of the whole interface, in a stable order; it depends on the code alone.
 * @param webhooks the events that the service sends, by type
 */
export function buildDocument(app: INestApplication, webhooks: OpenAPIObject['webhooks'] = {}): OpenAPIObject {
  const head = {
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: '/', description: 'This installation' }],
    tags: TAGS,
    components: { securitySchemes: { bearer: BEARER } },
  };
  const scanned = SwaggerModule.createDocument(app, head, {
    operationIdFactory: (_controller, method) => method,
    extraModels: [ErrorBody],
    // Each operation names its tag itself.
    autoTagControllers: false,
  });
  const schemas = { ...tidyAll(scanned.components?.schemas ?? {}), ...namedSchemas() };
  for (const item of Object.values(scanned.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      adaptRequest(operation, schemas, method === 'patch');
      item[method] = { ...withoutExtension(operation), responses: allResponses(operation, schemas, method === 'post') };
    }
  }
  const components = { ...scanned.components, schemas, headers: HEADERS, responses: ERROR_RESPONSES };
  // Nest fills in entries of the head that it was not given; the head is ours alone.
  return ordered({
    ...scanned,
    ...head,
    webhooks,
    components: { ...components, securitySchemes: head.components.securitySchemes },
  });
}

function tidyAll(schemas: Schemas): Schemas {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, tidy(schema as Schema)]));
}

/** What the decorators of the fields cannot know: that their class is a request's, and of which kind. */
function adaptRequest({ requestBody }: OperationObject, schemas: Schemas, isPartial: boolean): void {
  if (!requestBody || !('content' in requestBody)) return;
  for (const { schema } of Object.values(requestBody.content)) {
    const name = schema && '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined;
    if (schema === undefined || name === undefined) continue;
    const request = closed(resolve(schema, schemas));
    schemas[name] = isPartial ? withoutDefaults(request) : request;
  }
}

/** The success with an example and its headers, and every error that the operation can answer. */
function allResponses(operation: OperationObject, schemas: Schemas, isPost: boolean): Responses {
  const successes = Object.entries(operation.responses).map(([status, response]) => {
    const { content = {}, ...rest } = response as Response & {
      content?: Record<string, { schema: Schema; example?: object }>;
    };
    const media = Object.entries(content).map(([type, { schema, example }]) => {
      // A file comes with its example; an envelope gets one made of its fields.
      const whole = schema.properties ? merged(exampleOf(schema, schemas), example) : example;
      return [type, { schema, example: whole }] as const;
    });
    const own = isPost ? headers('Idempotent-Replayed') : headers();
    return [status, { ...rest, headers: own, content: Object.fromEntries(media) }] as const;
  });
  return { ...Object.fromEntries(successes), ...errorResponses(errorsOf(operation)) };
}

/** The example of the schema with what the operation knows better about its `data`. */
function merged(example: unknown, data: object | undefined): unknown {
  const envelope = example as { data?: object };
  return data === undefined ? envelope : { ...envelope, data: { ...envelope.data, ...data } };
}

function errorsOf(operation: OperationObject): readonly ErrorCode[] {
  return (operation as { [ERRORS_EXTENSION]?: readonly ErrorCode[] })[ERRORS_EXTENSION] ?? [];
}

function withoutExtension(operation: OperationObject): OperationObject {
  const { [ERRORS_EXTENSION]: _errors, ...rest } = operation as OperationObject & { [ERRORS_EXTENSION]?: unknown };
  return rest;
}
