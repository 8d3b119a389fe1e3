import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiConsumes,
  ApiExtension,
  ApiExtraModels,
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
import { TakesNoQuery } from '../http/dto/unknown-query.guard.js';
import { PageMeta } from '../http/dto/pagination.js';
import { Idempotent } from '../idempotency/idempotency.interceptor.js';
import { type FormOptions, TakesForm } from '../http/body/form-body.js';
import { TakesNoBody } from '../http/body/no-body.js';
import { TakesText, type TextBodyOptions } from '../http/body/text-body.js';
import type { Tag } from './info.js';
import { headerRefs } from './responses.js';

/** Schema and example of a file, by media type. */
export type FileContent = Readonly<Record<string, { readonly schema: object; readonly example: unknown }>>;

/** Lists the error codes of an operation; the document builder turns them into responses. */
export const ERRORS_EXTENSION = 'x-errors';

export interface OperationOptions {
  readonly summary: string;
  readonly description: string;
  /** One of `TAGS` in info.ts. */
  readonly tag: Tag;
  readonly access: Role | 'PUBLIC';
  readonly response: {
    /** A file is sent without an envelope. */
    readonly shape: EnvelopeShape | 'file';
    /** Content of the file. */
    readonly content?: FileContent;
    /** The file has an `ETag`, and parts of it can be requested: adds 206, 304 and 416. */
    readonly hasRanges?: boolean;
    readonly type?: Type;
    /** The response contains a secret that no other response shows: only the same API key can have it replayed. */
    readonly showsSecretOnce?: boolean;
    readonly message?: string;
    readonly status?: 200 | 201 | 202;
    /** Another success, which the route returns as an `AlternateResponse`. */
    readonly alternate?: { readonly status: 200 | 202; readonly type: Type; readonly message: string };
    /** Overrides fields of `data` in the documented example. */
    readonly example?: object;
  };
  /** The JSON body, with an example that works as is. */
  readonly body?: { readonly type: Type; readonly example: object };
  /** The file that it takes instead of JSON: limits by media type, content with examples that work as is. */
  readonly file?: TextBodyOptions & { readonly content: FileContent };
  /** The form that it takes instead of JSON, with the class of its fields. */
  readonly form?: FormOptions & { readonly type: Type; readonly example: object };
  /** Descriptions of the path parameters, by name. */
  readonly path?: Readonly<Record<string, string>>;
  /** Whether it takes query parameters; if not, every query parameter is refused. */
  readonly query?: boolean;
  /** Errors beyond those that follow from the other options; for a public operation, all its errors. */
  readonly errors?: readonly ErrorCode[];
}

/**
 * Everything about an operation in one place: who may call it, what it takes and what it returns. The guards, the body
 * reader, the envelope and the OpenAPI document read the same options, so that they cannot drift apart. It only sets
 * metadata, so it may be placed above or below `@Get` and its kin.
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const {
    summary,
    description,
    tag,
    access,
    response,
    body,
    file,
    form,
    path = {},
    query = false,
    errors = [],
  } = options;
  const {
    shape,
    type,
    message,
    status = 200,
    example,
    content,
    alternate,
    showsSecretOnce = false,
    hasRanges = false,
  } = response;
  const isPublic = access === 'PUBLIC';
  const needsPath = Object.keys(path).length > 0;
  const possible: ErrorCode[] = isPublic
    ? [...errors]
    : [
        // Every operation refuses unknown query parameters.
        'BAD_REQUEST',
        'UNAUTHORIZED',
        // Without a role above VIEWER and without a resource in the path nothing can be forbidden.
        ...(access === 'VIEWER' && !needsPath ? [] : (['FORBIDDEN'] as const)),
        ...(needsPath ? (['NOT_FOUND'] as const) : []),
        ...(body || file || form ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
        'TOO_MANY_REQUESTS',
        'INTERNAL_SERVER_ERROR',
        'SERVICE_UNAVAILABLE',
        ...(hasRanges ? (['RANGE_NOT_SATISFIABLE'] as const) : []),
        ...errors,
      ];
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({
      summary,
      description,
      ...(file && { requestBody: { required: true, content: file.content } }),
      ...(isPublic && { security: [] }),
    }),
    ApiExtension(ERRORS_EXTENSION, possible),
    isPublic ? Public() : applyDecorators(Needs(access), Idempotent({ showsSecretOnce }), ApiBearerAuth()),
    ...(isPublic || query ? [] : [TakesNoQuery()]),
    HttpCode(status),
    ...(shape === 'file'
      ? [
          ApiResponse({
            status,
            description: message ?? 'The file',
            content: { ...content },
            ...(hasRanges && { headers: headerRefs('ETag') }),
          }),
          ...(hasRanges ? rangeResponses(content) : []),
        ]
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
    ...(file ? [TakesText(file)] : []),
    ...(body || file || form ? [] : [TakesNoBody()]),
    ...(form
      ? [
          TakesForm(form),
          ApiConsumes('multipart/form-data'),
          ApiBody({
            type: form.type,
            required: true,
            examples: { example: { summary: 'Example', value: form.example } },
          }),
        ]
      : []),
  );
}

const rangeResponses = (content: FileContent | undefined) => [
  ApiResponse({
    status: 206,
    description: 'The requested `Range` of the file',
    content: { ...content },
    headers: headerRefs('ETag', 'Content-Range'),
  }),
  ApiResponse({ status: 304, description: 'The file has not changed', headers: headerRefs('ETag') }),
];

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
