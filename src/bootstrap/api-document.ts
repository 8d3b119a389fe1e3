import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { webhookDocument } from '../modules/webhooks/webhook-document.js';
import { buildDocument } from '../platform/openapi/document.js';

/** The OpenAPI document of the service: its operations and its webhook events. */
export const apiDocument = (app: INestApplication): OpenAPIObject => buildDocument(app, webhookDocument());
