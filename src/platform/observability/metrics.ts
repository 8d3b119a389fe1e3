import { createServer, type Server } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { SETTINGS } from '../config/settings.module.js';
import type { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';

/** Prometheus metrics of this process; other parts of the service add theirs to the registry. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  private readonly requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of HTTP requests by route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });

  constructor(database: Database, @Inject(SETTINGS) { metricsPort }: Pick<Settings, 'metricsPort'>) {
    // They observe the event loop and the garbage collector for as long as the process runs.
    if (metricsPort !== undefined) collectDefaultMetrics({ register: this.registry });
    new Gauge({
      name: 'database_connections',
      help: 'Connections of the pool by state, and requests waiting for one',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        const { total, idle, waiting } = database.poolState;
        this.set({ state: 'used' }, total - idle);
        this.set({ state: 'idle' }, idle);
        this.set({ state: 'waiting' }, waiting);
      },
    });
  }

  /** Observes a finished request; the route label is the pattern, so that ids do not become labels. */
  observe(request: Request, response: Response, milliseconds: number): void {
    const route = (request.route as { path?: string } | undefined)?.path ?? 'none';
    const labels = { method: request.method, route, status: String(response.statusCode) };
    this.requests.observe(labels, milliseconds / 1000);
  }
}

/**
 * Serves `GET /metrics` on a separate port, which should not be public.
 * @param read returns the metrics in Prometheus format
 */
export async function serveMetrics(port: number, host: string, read: () => Promise<string>): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
    read().then(
      (text) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    // Also later: a connection that cannot be accepted is an error of the server.
    server.on('error', reject).listen(port, host, resolve);
  });
  server.unref();
  return server;
}
