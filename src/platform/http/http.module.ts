import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AccessGuard } from '../access/access.guard.js';
import { PlanThrottlerGuard } from '../throttling/plan-throttler.guard.js';
import { ThrottlingModule } from '../throttling/throttling.module.js';
import { ErrorFilter } from './responses/error.filter.js';
import { InputGuard } from './body/input.guard.js';
import { UnknownPathController } from './server/unknown-path.controller.js';
import { validationPipe } from './dto/validation.pipe.js';

/** What every request passes, in this order: rate limit, access, body, idempotency of POST, validation. */
@Module({
  imports: [ThrottlingModule],
  controllers: [UnknownPathController],
  providers: [
    { provide: APP_GUARD, useClass: PlanThrottlerGuard },
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_GUARD, useClass: InputGuard },
    { provide: APP_PIPE, useFactory: validationPipe },
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
})
export class HttpModule {}
