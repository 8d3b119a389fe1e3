import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createServer } from 'node:tls';
import { Logger } from '@nestjs/common';
import { createTestApp } from '../support/test-app.js';

const pem = (name: string) => readFileSync(path.resolve(__dirname, `../support/certificates/${name}.pem`));

// trieb-work/nextjs-turbo-redis-cache#24, redis/node-redis#1103
it('A Redis whose certificate is not trusted is reported with the setting that names its authority', async () => {
  const server = createServer({ key: pem('key'), cert: pem('self-signed') }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  try {
    const app = await createTestApp({ env: { REDIS_URL: `rediss://localhost:${port}` } });
    await app.close();
    expect(warn.mock.calls.flat()).toContainEqual(
      expect.stringMatching(
        /^Redis at localhost:\d+ is unavailable \(.*self-signed certificate; its authority is named with NODE_EXTRA_CA_CERTS=FILE\): each/,
      ),
    );
  } finally {
    warn.mockRestore();
    server.close();
  }
});
