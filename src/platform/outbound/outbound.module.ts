import { Global, Module } from '@nestjs/common';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';

/** Provides the HTTP client for URLs that users enter. */
@Global()
@Module({
  providers: [
    {
      provide: OutboundClient,
      useFactory: ({ outboundAllowedNetworks }: Settings) =>
        new OutboundClient({ allowedNetworks: outboundAllowedNetworks }),
      inject: [SETTINGS],
    },
  ],
  exports: [OutboundClient],
})
export class OutboundModule {}
