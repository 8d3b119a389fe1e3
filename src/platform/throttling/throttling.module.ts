import { Global, Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { isWorkerProcess, supervisorChannel } from '../cluster/messages.js';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { Counters, WINDOW_MS } from './counters.js';
import { ProcessCounters } from './process-counters.js';
import { RateLimiter } from './rate-limiter.js';
import { SharedCounters } from './shared-counters.js';
import { SupervisorLink } from './supervisor-link.js';

@Global()
@Module({
  providers: [
    {
      provide: Counters,
      inject: [SETTINGS],
      useFactory: async (settings: Settings): Promise<Counters> => {
        if (settings.redisUrl !== undefined) {
          // Its client takes a third of a second to load, which nobody should wait for without Redis.
          const { RedisLink } = await import('./redis-link.js');
          return new SharedCounters(new RedisLink(settings.redisUrl));
        }
        return isWorkerProcess(settings)
          ? new SharedCounters(new SupervisorLink(supervisorChannel))
          : new ProcessCounters();
      },
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
