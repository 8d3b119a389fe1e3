import { Global, Module } from '@nestjs/common';
import { OutboundClient, type OwnEndpoint } from '../../../libs/outbound-http/index.js';
import { DATABASE_URL } from '../database/database.tokens.js';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';

/** Provides the HTTP client for URLs that users enter. */
@Global()
@Module({
  providers: [
    {
      provide: OutboundClient,
      useFactory: (settings: Settings, databaseUrl: string) =>
        new OutboundClient({
          allowedNetworks: settings.outboundAllowedNetworks,
          ownEndpoints: [
            { port: settings.port },
            { port: settings.metricsPort ?? 0 },
            ...endpointOf(databaseUrl, 5_432),
            ...endpointOf(settings.redisUrl, 6_379),
          ],
        }),
      inject: [SETTINGS, DATABASE_URL],
    },
  ],
  exports: [OutboundClient],
})
export class OutboundModule {}

/** Where a database listens. @param defaultPort if the URL has none */
function endpointOf(url: string | undefined, defaultPort: number): OwnEndpoint[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { hostname, port } = new URL(url);
  return [{ host: hostname.replace(/^\[(.*)\]$/, '$1') || undefined, port: Number(port || defaultPort) }];
}
