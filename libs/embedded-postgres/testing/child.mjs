/**
 * A process of its own for the specs: `node --import @swc-node/register/esm-register child.mjs <mode> <arguments>`.
 * It reports with one JSON line each and does what it reads on its standard input. See processes.ts.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , mode, ...given] = process.argv;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

if (mode === 'open') {
  const { openEmbeddedPostgres } = await import('../index.ts');
  const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  say({ loaded: true });
  // Started by a word, so that several processes can begin at the same moment.
  await input.next();
  try {
    const server = await openEmbeddedPostgres(JSON.parse(given[0]));
    say({ pid: server.pid, adopted: server.adopted, url: server.url('postgres') });
    await input.next();
    await server.close();
    say({ closed: true });
  } catch (error) {
    say({ error: error.message });
  }
  process.exit(0);
}

if (mode === 'cycle') {
  // Opens and closes again and again: the others' ends meet this one's beginnings.
  const { openEmbeddedPostgres } = await import('../index.ts');
  const { Client } = await import('pg');
  try {
    for (let round = 0; round < Number(given[1]); round++) {
      const server = await openEmbeddedPostgres(JSON.parse(given[0]));
      const client = new Client({ connectionString: server.url('postgres') });
      await client.connect();
      await client.query('select 1');
      await client.end();
      await server.close();
    }
    say({ done: true });
  } catch (error) {
    say({ error: error.stack });
  }
  process.exit(0);
}

if (mode === 'lock') {
  // Fails when two processes are inside at once; dies inside when told so.
  const { acquireLock } = await import('../lock.ts');
  const [path, rounds, dieInRound] = given;
  try {
    for (let round = 0; round < Number(rounds); round++) {
      const release = await acquireLock(path, 60_000);
      writeFileSync(`${path}-inside`, String(process.pid), { flag: 'wx' });
      await new Promise((resolve) => setTimeout(resolve, 1));
      rmSync(`${path}-inside`);
      if (round === Number(dieInRound)) process.kill(process.pid, 'SIGKILL');
      release();
    }
    say({ done: true });
  } catch (error) {
    say({ error: error.stack });
  }
}
