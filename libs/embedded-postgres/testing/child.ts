/**
 * A separate process for the specs: `node child.js <mode> <arguments>`, compiled. Reports in JSON lines and starts its next
 * step on every line of its standard input. See processes.ts.
 */
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { type EmbeddedPostgresOptions, openEmbeddedPostgres } from '../index.js';

const [, , mode, options = '', rounds] = process.argv;
const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function open(): Promise<void> {
  const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  say({ loaded: true });
  // Waits, so that several processes can start at the same time.
  await input.next();
  try {
    const server = await openEmbeddedPostgres(JSON.parse(options) as EmbeddedPostgresOptions);
    say({ pid: server.pid, adopted: server.adopted, url: server.url('postgres') });
    await input.next();
    await server.close();
    say({ closed: true });
  } catch (error) {
    say({ error: (error as Error).message });
  }
}

/** Opens and closes repeatedly: other processes close while this one opens. */
async function cycle(): Promise<void> {
  try {
    for (let round = 0; round < Number(rounds); round++) {
      const server = await openEmbeddedPostgres(JSON.parse(options) as EmbeddedPostgresOptions);
      const client = new Client({ connectionString: server.url('postgres') });
      await client.connect();
      await client.query('select 1');
      await client.end();
      await server.close();
    }
    say({ done: true });
  } catch (error) {
    say({ error: (error as Error).stack });
  }
}

await (mode === 'open' ? open() : cycle());
process.exit(0);
