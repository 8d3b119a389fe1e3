import { type ExecutionContext, Module, type Provider } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import type { Request } from 'express';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { RateLimitStorage } from './rate-limit.storage.js';
import { RateLimiter } from './rate-limiter.js';
import { LIMITER_OPTIONS, LimiterCounter, WindowCounter } from './window-counter.js';

const counter: Provider<WindowCounter> = {
  provide: WindowCounter,
  inject: [SETTINGS],
  useFactory: async (settings: Settings) => {
    const { redisUrl } = settings;
    const local = new LimiterCounter(new RateLimiterMemory(LIMITER_OPTIONS));
    if (redisUrl === undefined) return local;
    // Loading the Redis client takes a third of a second.
    const { RedisCounter } = await import('./redis-counter.js');
    return new RedisCounter(redisUrl, local);
  },
};

@Module({
  providers: [counter, RateLimitStorage, RateLimiter],
  exports: [RateLimitStorage, RateLimiter],
})
class RateLimitModule {}

/** Rate limits by plan: one bucket for each workspace over all its routes and keys. */
@Module({
  imports: [
    RateLimitModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitModule],
      inject: [RateLimitStorage, RateLimiter],
      useFactory: (storage: RateLimitStorage, rateLimiter: RateLimiter): ThrottlerModuleOptions => {
        const bucketOf = (context: ExecutionContext) =>
          rateLimiter.bucketOf(context.switchToHttp().getRequest<Request>());
        return {
          throttlers: [{ limit: (context) => bucketOf(context).limit, ttl: () => rateLimiter.windowMs }],
          getTracker: (_request, context) => bucketOf(context).key,
          // The throttler's default adds the route.
          generateKey: (_context, tracker) => tracker,
          storage,
        };
      },
    }),
  ],
  exports: [RateLimitModule],
})
export class ThrottlingModule {}
