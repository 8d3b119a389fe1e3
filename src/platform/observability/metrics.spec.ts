import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import type { Database } from '../database/database.js';
import { Metrics, serveMetrics } from './metrics.js';

describe('metrics', () => {
  let metrics: Metrics;
  let server: Server;
  let url: string;

  beforeAll(async () => {
    metrics = new Metrics({ poolState: { total: 5, idle: 2, waiting: 1 } } as Database, { metricsPort: 9464 });
    server = await serveMetrics(0, '127.0.0.1', () => metrics.registry.metrics());
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const observe = (method: string, route: string | undefined, status: number) => {
    const request = { method, route: route && { path: route } } as unknown as Request;
    metrics.observe(request, { statusCode: status } as Response, 250);
  };
  const text = async () => (await fetch(`${url}/metrics`)).text();

  it('are served on if a connection cannot be accepted', () => {
    expect(server.emit('error', new Error('accept EMFILE'))).toBe(true);
  });

  it('count requests by method, route pattern and status', async () => {
    observe('GET', '/agents/:id', 200);
    observe('GET', '/agents/:id', 200);
    observe('POST', undefined, 404);
    const lines = await text();
    expect(lines).toContain('http_request_duration_seconds_count{method="GET",route="/agents/:id",status="200"} 2');
    expect(lines).toContain('http_request_duration_seconds_sum{method="GET",route="/agents/:id",status="200"} 0.5');
    expect(lines).toContain('http_request_duration_seconds_count{method="POST",route="none",status="404"} 1');
  });

  it('include the state of the connection pool and of the process', async () => {
    const lines = await text();
    expect(lines).toContain('database_connections{state="used"} 3');
    expect(lines).toContain('database_connections{state="idle"} 2');
    expect(lines).toContain('database_connections{state="waiting"} 1');
    expect(lines).toContain('process_cpu_user_seconds_total');
  });

  it('are served in the Prometheus format, and nothing else is', async () => {
    const response = await fetch(`${url}/metrics`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, metrics.registry.contentType]);
    await response.text();
    for (const [path, method] of [
      ['/', 'GET'],
      ['/metrics', 'POST'],
      ['/agents', 'GET'],
    ]) {
      expect((await fetch(url + path, { method: method ?? '' })).status).toBe(404);
    }
  });

  it('reject with EADDRINUSE if their port is in use', async () => {
    const { port } = server.address() as AddressInfo;
    await expect(serveMetrics(port, '127.0.0.1', () => metrics.registry.metrics())).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});
