import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { DEFAULT_MESSAGES, type ErrorCode } from '../errors/domain-error.js';
import { API_VERSION } from '../http/common-headers.middleware.js';
import { ErrorBody } from '../http/error-body.js';
import { STATUS_OF } from '../http/error-status.js';
import { ERRORS_EXTENSION } from './operation.decorator.js';

/** Errors that every operation can answer. */
const ALWAYS: readonly ErrorCode[] = ['TOO_MANY_REQUESTS', 'INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'];

/** The OpenAPI 3.1 document of the whole interface, in a stable order. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Voice Agent Testing Service')
    .setVersion(API_VERSION)
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An API key of the workspace' })
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, method) => method,
    extraModels: [ErrorBody],
  });
  void ALWAYS;
  void DEFAULT_MESSAGES;
  void STATUS_OF;
  void ERRORS_EXTENSION;
  return document;
}
