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
import { PageMeta } from '../http/pagination.js';

/** Marks an operation with the error codes it can answer; the document builder turns them into responses. */
export const ERRORS_EXTENSION = 'x-errors';

export interface OperationOptions {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Role | 'PUBLIC';
  readonly answer: { readonly shape: EnvelopeShape; readonly type?: Type; readonly message?: string; readonly status?: 200 | 201 };
  /** The body that it takes, with an example that works as it stands. */
  readonly body?: { readonly type: Type; readonly example: object };
  /** Path parameters and what they name. */
  readonly path?: Readonly<Record<string, string>>;
  /** Whether the query string is checked, so that 400 is possible without a body. */
  readonly query?: boolean;
  /** Errors beyond those that follow from the rest. */
  readonly errors?: readonly ErrorCode[];
}

/**
 * All that is said of an operation in one place: who may call it, what it takes and answers. Guard, body reader and
 * envelope read the same words as the OpenAPI document, so the two cannot drift apart.
 */
export function Operation(options: OperationOptions): MethodDecorator {
  const { summary, description, tag, access, answer, body, path = {}, query = false, errors = [] } = options;
  const { shape, type, message, status = 200 } = answer;
  const isPublic = access === 'PUBLIC';
  const isCreation = status === 201;
  const possible: ErrorCode[] = [
    ...(body || query ? (['BAD_REQUEST'] as const) : []),
    ...(isPublic ? [] : (['UNAUTHORIZED', 'FORBIDDEN'] as const)),
    ...(Object.keys(path).length > 0 ? (['NOT_FOUND'] as const) : []),
    ...(body ? (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(isCreation ? (['CONFLICT', 'UNPROCESSABLE_CONTENT'] as const) : []),
    ...errors,
  ];
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({ summary, description: description ?? `${summary}.` }),
    ApiExtension(ERRORS_EXTENSION, possible),
    isPublic ? Public() : applyDecorators(Needs(access), ApiBearerAuth()),
    HttpCode(status),
    Enveloped({ shape, message }),
    ApiResponse({ status, description: message ?? 'Success', schema: envelopeSchema(shape, message, type) }),
    ...(type ? [ApiExtraModels(type)] : []),
    ...(shape === 'page' ? [ApiExtraModels(PageMeta)] : []),
    ...Object.entries(path).map(([name, about]) => ApiParam({ name, description: about, schema: { type: 'string', minLength: 1 }, example: EXAMPLE_ID })),
    ...(body ? [TakesJson(), ApiBody({ type: body.type, required: true, examples: { example: { summary: 'Example', value: body.example } } })] : []),
    ...(isCreation ? [ApiHeader(IDEMPOTENCY_KEY)] : []),
  );
}

const EXAMPLE_ID = '9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10';

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
