/**
 * A separate process for the specs: `node --import @swc-node/register/esm-register child.mjs <mode> <arguments>`.
 * Reports in JSON lines and starts its next step on every line of its standard input. See processes.ts.
 */
import { createInterface } from 'node:readline';

const [, , mode, ...given] = process.argv;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

if (mode === 'open') {
  const { openEmbeddedPostgres } = await import('../index.ts');
  const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  say({ loaded: true });
  // Waits, so that several processes can start at the same time.
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
  // Opens and closes repeatedly: other processes close while this one opens.
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
