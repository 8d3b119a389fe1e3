import { applyDecorators, HttpCode, RequestMethod, type Type, UseInterceptors } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
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
import { TakesJson } from '../http/body/json-body.js';
import { Enveloped, type EnvelopeShape } from '../http/responses/envelope.js';
import { TakesNoQuery } from '../http/dto/no-query.js';
import { PageMeta } from '../http/dto/pagination.js';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor.js';
import { TakesText } from '../http/body/text-body.js';

/** What a file holds, by media type. */
export type FileContent = Readonly<Record<string, { readonly schema: object; readonly example: unknown }>>;

/** Marks an operation with the error codes it can answer; the document builder turns them into responses. */
export const ERRORS_EXTENSION = 'x-errors';

export interface OperationOptions {
  readonly summary: string;
  readonly description: string;
  readonly tag: string;
  readonly access: Role | 'PUBLIC';
  readonly response: {
    /** A file is sent as it is. */
    readonly shape: EnvelopeShape | 'file';
    /** What the file holds. */
    readonly content?: FileContent;
    readonly type?: Type;
    readonly message?: string;
    readonly status?: 200 | 201;
    /** Another success, which the route returns as an `AlternateResponse`. */
    readonly alternate?: { readonly status: 200; readonly type: Type; readonly message: string };
    /** Fields of `data` in which the documented example differs from that of the type. */
    readonly example?: object;
  };
  /** The body that it takes, with an example that works as it stands. */
  readonly body?: { readonly type: Type; readonly example: object };
  /** The file that it takes instead, of at most so many bytes, with examples that work as they stand. */
  readonly file?: { readonly limit: number; readonly content: FileContent };
  /** Path parameters and what they name. */
  readonly path?: Readonly<Record<string, string>>;
  /** Whether it takes query parameters; alternate every one of them is refused. */
  readonly query?: boolean;
  /** Errors beyond those that follow from the rest; of a public operation, all. */
  readonly errors?: readonly ErrorCode[];
}

/**
 * All that is said of an operation in one place: who may call it, what it takes and answers. Guard, body reader and
 * envelope read the same words as the OpenAPI document, so the two cannot drift apart.
 */
export function Operation(options: OperationOptions): MethodDecorator {
  // The route's own decorator stands below this one and has run by then.
  return (target, name, descriptor: PropertyDescriptor) => {
    const isPost = Reflect.getMetadata(METHOD_METADATA, descriptor.value as object) === RequestMethod.POST;
    describe(options, isPost)(target, name, descriptor);
  };
}

function describe(options: OperationOptions, isPost: boolean): MethodDecorator {
  const { summary, description, tag, access, response, body, file, path = {}, query = false, errors = [] } = options;
  const { shape, type, message, status = 200, example, content, alternate } = response;
  const isPublic = access === 'PUBLIC';
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
        ...(body || file ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
        ...(isPost ? (['CONFLICT'] as const) : []),
        // Without a body no retry can have another one.
        ...(isPost && (body || file) ? (['UNPROCESSABLE_CONTENT'] as const) : []),
        'TOO_MANY_REQUESTS',
        'INTERNAL_SERVER_ERROR',
        'SERVICE_UNAVAILABLE',
        ...errors,
      ];
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({
      summary,
      description,
      ...(file && { requestBody: { required: true, content: file.content } }),
    }),
    ApiExtension(ERRORS_EXTENSION, possible),
    isPublic ? Public() : applyDecorators(Needs(access), ApiBearerAuth()),
    ...(isPublic || query ? [] : [TakesNoQuery()]),
    HttpCode(status),
    ...(shape === 'file'
      ? [ApiResponse({ status, description: message ?? 'The file', content: { ...content } })]
      : [
          Enveloped({ shape, message, alternate }),
          ApiResponse({
            status,
            description: message ?? 'Success',
            content: { 'application/json': { schema: envelopeSchema(shape, message, type), example } },
          }),
        ]),
    ...(alternate
      ? [
          ApiExtraModels(alternate.type),
          ApiResponse({
            status: alternate.status,
            description: alternate.message,
            content: { 'application/json': { schema: envelopeSchema('data', alternate.message, alternate.type) } },
          }),
        ]
      : []),
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
    ...(file ? [TakesText({ mediaTypes: Object.keys(file.content), limit: file.limit })] : []),
    ...(isPost ? [ApiHeader(IDEMPOTENCY_KEY), UseInterceptors(IdempotencyInterceptor)] : []),
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
