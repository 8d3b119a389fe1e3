import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sample } from '../../libs/statistics/testing/sample.js';
import { freePort } from '../support/redis.js';
import { ServiceProcess } from '../support/service-process.js';

describe('a service that cannot listen as its settings say', () => {
  let folder: string;
  let other: Server;
  let taken: number;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'addresses-'));
    other = createServer();
    taken = await freePort();
    await new Promise<void>((resolve) => other.listen(taken, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => other.close(resolve));
    await rm(folder, { recursive: true });
  });

  const noAddress = 'HOST is not an address of this machine. Set HOST to one of its addresses, or to 0.0.0.0\n';
  const severalProcesses =
    'WEB_CONCURRENCY="4" must be 1 or unset: one start has one API process. ' +
    'Start more with ROLE=api behind a proxy, as in compose.yaml\n';
  const inUse = (setting: string) => () =>
    `${setting}=${taken} is in use by another process. Set ${setting} to another port\n`;

  const conflicts: [string, () => Record<string, string>, () => string][] = [
    ['PORT is in use', () => ({ PORT: String(taken) }), inUse('PORT')],
    ['METRICS_PORT is in use', () => ({ METRICS_PORT: String(taken), ROLE: 'worker' }), inUse('METRICS_PORT')],
    ['HOST is not a name', () => ({ HOST: 'a b' }), () => noAddress],
    ["HOST is another machine's address", () => ({ HOST: '192.0.2.1' }), () => noAddress],
    ['WEB_CONCURRENCY asks for several API processes', () => ({ WEB_CONCURRENCY: '4' }), () => severalProcesses],
  ];
  it.each(sample(conflicts))('ends with one line before it starts its database: %s', async (_, env, line) => {
    const dataDir = await mkdtemp(path.join(folder, 'data-'));
    const service = await ServiceProcess.start({
      ...{ DATABASE_URL: '', DATA_DIR: dataDir, LOG_LEVEL: 'fatal' },
      ...env(),
    });
    try {
      expect(await service.waitForExit()).toEqual({ code: 1, signal: null });
      expect(service.output).toBe(line());
      expect(existsSync(path.join(dataDir, 'postgres'))).toBe(false);
    } finally {
      await service.dispose();
    }
  });
});
