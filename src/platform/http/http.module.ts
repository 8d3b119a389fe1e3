import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccessGuard } from '../access/access.guard.js';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor.js';
import { IdempotencyRepository } from '../idempotency/idempotency.repository.js';
import { PlanThrottlerGuard } from '../throttling/plan-throttler.guard.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { BodyInterceptor } from './body/body.interceptor.js';
import { UnknownQueryGuard } from './dto/unknown-query.guard.js';
import { InputPipe } from './dto/validation.pipe.js';
import { EnvelopeInterceptor } from './responses/envelope.interceptor.js';
import { ErrorFilter } from './responses/error.filter.js';
import { UnknownPathController } from './server/unknown-path.controller.js';

/** The global request pipeline. Nest runs guards, interceptors and pipes in this order. */
@Module({
  imports: [ThrottlingModule],
  controllers: [UnknownPathController],
  providers: [
    IdempotencyRepository,
    { provide: APP_GUARD, useClass: PlanThrottlerGuard },
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: UnknownQueryGuard },
    { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
    // Between body and envelope: it compares the body's hash, and stores the response with its envelope.
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
    { provide: APP_PIPE, useClass: InputPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class HttpModule {}
