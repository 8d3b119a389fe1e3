import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const HOST = pathToFileURL(path.resolve(__dirname, '../../src/processes/supervised-host.ts')).href;
/** Reports `ready` without a chance to notice that the channel was closed in between. */
const SCRIPT = `
  const { supervisedHost } = await import(${JSON.stringify(HOST)});
  const host = supervisedHost('api');
  process.send('loaded');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  host.ready('http://127.0.0.1:1');
  host.onEnd((why) => console.log(why));
`;

describe('a process whose supervisor ends while it is starting', () => {
  it('ends in order, although it cannot report that it is ready', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'host-')), 'process.mjs');
    writeFileSync(file, SCRIPT);
    const child = fork(file, { execArgv: ['--import', '@swc-node/register/esm-register'], silent: true });
    const output = Promise.all([text(child.stdout!), text(child.stderr!)]);
    await once(child, 'message');
    child.disconnect();
    expect(await once(child, 'exit')).toEqual([0, null]);
    rmSync(path.dirname(file), { recursive: true });
    expect(await output).toEqual(['its supervisor has ended\n', '']);
  }, 60_000);
});
