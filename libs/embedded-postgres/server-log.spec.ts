import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { lastRelevantLine, logSize, readLogSince, rotateLog } from './server-log.js';
import { cleanUp, newFolder } from './testing/processes.js';

afterEach(cleanUp);

describe('server log', () => {
  it('is rotated beyond its limit while the server keeps writing', () => {
    const path = join(newFolder(), 'server.log');
    const server = openSync(path, 'a');
    writeSync(server, 'x'.repeat(200));
    rotateLog(path, 200);
    expect(existsSync(`${path}.1`)).toBe(false);
    writeSync(server, 'y');
    rotateLog(path, 200);
    expect(statSync(`${path}.1`).size).toBe(201);
    writeSync(server, 'next');
    closeSync(server);
    expect(readFileSync(path, 'utf8')).toBe('next');
  });

  it('may be missing', () => {
    const path = join(newFolder(), 'server.log');
    rotateLog(path);
    expect(logSize(path)).toBe(0);
    expect(readLogSince(path, 0)).toBe('');
  });

  it('is read from an offset, or completely after a rotation', () => {
    const path = join(newFolder(), 'server.log');
    writeFileSync(path, 'old\n');
    const offset = logSize(path);
    appendFileSync(path, 'new\n');
    expect(readLogSince(path, offset)).toBe('new\n');
    expect(readLogSince(path, 1000)).toBe('old\nnew\n');
  });

  it.each([
    [
      '2026-01-01 10:00:00.1 UTC [7] LOG:  starting\n2026-01-01 10:00:00.1 UTC [7] FATAL:  no\n2026-01-01 10:00:00.1 UTC [7] LOG:  end\n',
      'FATAL:  no',
    ],
    [
      'LOG:  could not bind IPv4 address "127.0.0.1": Address in use\nFATAL:  could not create any TCP/IP sockets',
      'LOG:  could not bind IPv4 address "127.0.0.1": Address in use',
    ],
    ['initdb: error: could not write\ninitdb: removing contents', 'initdb: error: could not write'],
    ['something\nelse\n\n', 'else'],
    [
      'FATAL:  could not write: No space left on device\nPANIC:  cannot abort',
      'FATAL:  could not write: No space left on device',
    ],
    ['', undefined],
  ])('contains the cause of a failure (%#)', (text, line) => {
    expect(lastRelevantLine(text)).toBe(line);
  });
});
