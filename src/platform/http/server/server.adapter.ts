import type { ServerOptions } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { expressServer } from './express-server.js';

/** Options of Node's server; times in milliseconds. */
const SERVER_OPTIONS: ServerOptions = {
  // How long a client may take for its headers, and for the whole request.
  headersTimeout: 15_000,
  requestTimeout: 30_000,
  // Longer than proxies keep idle connections, or they send a request on one that is just being closed and answer 502.
  keepAliveTimeout: 125_000,
  // How often Node looks for clients that took longer; the default of 30 s would double those limits.
  connectionsCheckingInterval: 1_000,
  // Node's own 400 has no error body: the request middleware refuses a missing Host instead.
  requireHostHeader: false,
};

/** Nest on Express; differs from Nest's own adapter only in how Node's server is created. */
export class ServerAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    this.httpServer = expressServer(this.getInstance<Express>(), SERVER_OPTIONS);
  }
}
