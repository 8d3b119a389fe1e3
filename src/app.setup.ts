import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { OpenAPIObject } from '@nestjs/swagger';
import express from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { limitCallThreads } from '../libs/simulation/index.js';
import { AppModule, type AppContext } from './app.module.js';
import { Identification } from './modules/api-keys/identification.js';
import { webhookDocument } from './modules/webhooks/webhook-document.js';
import { requestMiddleware } from './platform/http/server/request-middleware.js';
import { handleProtocolErrors } from './platform/http/server/protocol-errors.js';
import { ServerAdapter } from './platform/http/server/server.adapter.js';
import { NestLogger } from './platform/observability/logger.js';
import { Metrics } from './platform/observability/metrics.js';
import { Readiness } from './platform/observability/readiness.js';
import { RequestLog } from './platform/observability/request-log.js';
import { buildDocument } from './platform/openapi/document.js';
import { ServedDocument } from './platform/openapi/served-document.js';
import { RateLimiter } from './platform/throttling/rate-limiter.js';

export interface App {
  readonly nest: NestExpressApplication;
  readonly metrics: Metrics;
}

/** The OpenAPI document of the service: its operations and its webhook events. */
export const apiDocument = (app: INestApplication): OpenAPIObject => buildDocument(app, webhookDocument());

/** Creates the application as it runs in production; also used by the tests. The caller listens and closes. */
export async function createApp(appContext: AppContext, logger: Logger): Promise<App> {
  const { settings } = appContext;
  if (settings.callThreads !== undefined) limitCallThreads(settings.callThreads);
  const server = express();
  // Paths are exact: /Agents and /agents/ are not /agents.
  server.enable('case sensitive routing').enable('strict routing');
  server.set('query parser', 'simple').set('trust proxy', settings.trustProxy);
  server.disable('x-powered-by').disable('etag');

  const nest = await NestFactory.create<NestExpressApplication>(
    AppModule.forRoot(appContext),
    new ServerAdapter(server),
    {
      // Bodies are read after the guards, by BodyInterceptor.
      bodyParser: false,
      logger: new NestLogger(logger),
      abortOnError: false,
    },
  );
  const metrics = nest.get(Metrics);

  nest.use(
    helmet({
      // It would hold for every service of this host, so that the proxy which terminates TLS decides on it.
      strictTransportSecurity: false,
      contentSecurityPolicy: { directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }, useDefaults: false },
    }),
    requestMiddleware(new RequestLog(logger), metrics, nest.get(Readiness), nest.get(Identification)),
  );
  if (settings.corsOrigins.length > 0) {
    nest.enableCors({
      origin: settings.corsOrigins.includes('*') ? '*' : [...settings.corsOrigins],
      exposedHeaders: [
        'X-Request-Id',
        'X-API-Version',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'Retry-After',
        'WWW-Authenticate',
        'Idempotent-Replayed',
      ],
      maxAge: 600,
      // Preflights continue to the guards, so that they are counted and carry the rate-limit headers too.
      preflightContinue: true,
    });
  }
  nest.get(ServedDocument).describe(() => apiDocument(nest));

  handleProtocolErrors(nest.getHttpServer(), nest.get(RateLimiter));
  await nest.init();
  return { nest, metrics };
}
