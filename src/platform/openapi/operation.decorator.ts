import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiResponse,
  ApiTags,
  getSchemaPath,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { Needs, Public } from '../access/access.decorators.js';
import type { Role } from '../access/caller.js';
import type { ErrorCode } from '../errors/domain-error.js';
import { TakesJson } from '../http/body.interceptor.js';
import { Enveloped, type EnvelopeShape } from '../http/envelope.interceptor.js';
import { TakesNoQuery } from '../http/no-query.interceptor.js';
import { PageMeta } from '../http/pagination.js';

/** Marks an operation with the error codes it can answer; the document builder turns them into responses. */
export const ERRORS_EXTENSION = 'x-errors';

export interface OperationOptions {
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly access: Role | 'PUBLIC';
  readonly answer: {
    readonly shape: EnvelopeShape;
    readonly type?: Type;
    readonly message?: string;
    readonly status?: 200 | 201;
    /** Fields of `data` in which the documented example differs from that of the type. */
    readonly example?: object;
  };
  /** The body that it takes, with an example that works as it stands. */
  readonly body?: { readonly type: Type; readonly example: object };
  /** Path parameters and what they name. */
  readonly path?: Readonly<Record<string, string>>;
  /** Whether it takes query parameters; otherwise every one of them is refused. */
  readonly query?: boolean;
  /** Errors beyond those that follow from the rest; of a public operation, all. */
  readonly errors?: readonly ErrorCode[];
}

/**
 * All that is said of an operation in one place: who may call it, what it takes and answers. Guard, body reader and
 * envelope read the same words as the OpenAPI document, so the two cannot drift apart.
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const { summary, description, tag, access, answer, body, path = {}, query = false, errors = [] } = options;
  const { shape, type, message, status = 200, example } = answer;
  const isPublic = access === 'PUBLIC';
  const isCreation = status === 201;
  const needsPath = Object.keys(path).length > 0;
  const possible: ErrorCode[] = isPublic
    ? [...errors]
    : [
        // A query parameter too many is possible everywhere.
        'BAD_REQUEST',
        'UNAUTHORIZED',
        // What every key may do and what names no resource cannot be forbidden.
        ...(access === 'VIEWER' && !needsPath ? [] : (['FORBIDDEN'] as const)),
        ...(needsPath ? (['NOT_FOUND'] as const) : []),
        ...(body ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
        ...(isCreation ? (['CONFLICT', 'UNPROCESSABLE_CONTENT'] as const) : []),
        'TOO_MANY_REQUESTS',
        'INTERNAL_SERVER_ERROR',
        'SERVICE_UNAVAILABLE',
        ...errors,
      ];
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({ summary, description }),
    ApiExtension(ERRORS_EXTENSION, possible),
    isPublic ? Public() : applyDecorators(Needs(access), ApiBearerAuth()),
    ...(isPublic || query ? [] : [TakesNoQuery()]),
    HttpCode(status),
    Enveloped({ shape, message }),
    ApiResponse({
      status,
      description: message ?? 'Success',
      content: { 'application/json': { schema: envelopeSchema(shape, message, type), example } },
    }),
    ...(type ? [ApiExtraModels(type)] : []),
    ...(shape === 'page' ? [ApiExtraModels(PageMeta)] : []),
    ...Object.entries(path).map(([name, about]) =>
      ApiParam({ name, description: about, schema: { type: 'string', minLength: 1 } }),
    ),
    ...(body
      ? [
          TakesJson(),
          ApiBody({
            type: body.type,
            required: true,
            examples: { example: { summary: 'Example', value: body.example } },
          }),
        ]
      : []),
    ...(isCreation ? [ApiHeader(IDEMPOTENCY_KEY)] : []),
  );
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  required: false,
  description: 'Makes a retry safe: the same key with the same body answers the first response again for 24 hours',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
} as const;

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

function envelopeSchema(shape: EnvelopeShape, message: string | undefined, type: Type | undefined) {
  const properties: Record<string, Schema> = {};
  if (message !== undefined) properties['message'] = { type: 'string', example: message };
  if (shape === 'page') properties['meta'] = { $ref: getSchemaPath(PageMeta) };
  if (shape !== 'message' && type) {
    const item = { $ref: getSchemaPath(type) };
    properties['data'] = shape === 'page' ? { type: 'array', items: item } : item;
  }
  return { type: 'object' as const, required: Object.keys(properties), properties };
}
