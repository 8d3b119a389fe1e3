import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccessGuard } from '../access/access.guard.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { PlanThrottlerGuard } from '../throttling/plan-throttler.guard.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ErrorFilter } from './error.filter.js';
import { ExchangeInterceptor } from './exchange.interceptor.js';
import { UnknownPathController } from './unknown-path.controller.js';
import { validationPipe } from './validation.pipe.js';

/** What every request passes, in this order: rate limit, access, body, idempotency, envelope, validation. */
@Module({
  imports: [ThrottlingModule],
  controllers: [UnknownPathController],
  providers: [
    { provide: APP_GUARD, useClass: PlanThrottlerGuard },
    { provide: APP_GUARD, useClass: AccessGuard },
    Idempotency,
    { provide: APP_INTERCEPTOR, useClass: ExchangeInterceptor },
    { provide: APP_PIPE, useFactory: validationPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class HttpModule {}
