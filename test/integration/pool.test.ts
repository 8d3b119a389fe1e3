import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Pool } from 'pg';
import { AUTHENTICATED, fatal, READY } from '../support/postgres-messages.js';
import { surviveBrokenConnections } from '../../src/platform/database/pool.js';

const SHUTTING_DOWN = fatal('57P01', 'terminating connection');

describe('surviveBrokenConnections', () => {
  let server: Server;
  let pool: Pool;

  beforeEach(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      // All in one packet, like a server that starts to shut down at this moment.
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTTING_DOWN])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    pool = surviveBrokenConnections(new Pool({ host: '127.0.0.1', port, user: 'test', database: 'test' }));
  });

  afterEach(async () => {
    await pool.end();
    server.close();
  });

  it('keeps the process alive if a connection ends before an error listener is attached', async () => {
    const client = await pool.connect();
    await expect(client.query('SELECT 1')).rejects.toThrow(/terminat|not queryable|closed/);
    client.release();
    expect(pool.totalCount).toBe(0);
  });
});
