import { Global, Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { Counters, WINDOW_MS } from './counters.js';
import { ProcessCounters } from './process-counters.js';
import { RateLimiter } from './rate-limiter.js';
import { RedisLink } from './redis-link.js';
import { SharedCounters } from './shared-counters.js';

@Global()
@Module({
  providers: [
    {
      provide: Counters,
      inject: [SETTINGS],
      useFactory: ({ redisUrl }: Settings): Counters =>
        redisUrl === undefined ? new ProcessCounters() : new SharedCounters(new RedisLink(redisUrl)),
    },
    RateLimiter,
  ],
  exports: [Counters, RateLimiter],
})
export class CountersModule {}

/** Rate limits per plan tier, exact for each workspace. */
@Module({
  imports: [
    CountersModule,
    ThrottlerModule.forRootAsync({
      inject: [Counters, SETTINGS],
      useFactory: (storage: Counters, settings: Settings) => ({
        throttlers: [{ ttl: WINDOW_MS, limit: settings.planLimits.FREE }],
        storage,
      }),
    }),
  ],
  exports: [ThrottlerModule],
})
export class ThrottlingModule {}
