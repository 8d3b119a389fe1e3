import { existsSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock } from './lock.js';
import { processStart } from './process.js';
import { cleanUp, newFolder, startChild } from './testing/processes.js';

afterEach(cleanUp);

describe('the lock of a folder', () => {
  it('is held by one at a time, also within one process', async () => {
    const path = join(newFolder(), 'open.lock');
    const release = await acquireLock(path, 1000);
    await expect(acquireLock(path, 50)).rejects.toThrow(`Process ${process.pid} has kept ${path}`);
    const waiting = acquireLock(path, 5000);
    release();
    const releaseSecond = await waiting;
    // Late calls must not take the lock from its new holder.
    release();
    expect(existsSync(path) || readdirSync(join(path, '..')).includes('open.lock')).toBe(true);
    releaseSecond();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it.each([
    ['a dead process', () => `2147483646:whenever:abc`],
    ['an earlier process of the same number', () => `${process.ppid}:another-boot-1:abc`],
    ['an earlier life of this very number (a restarted container)', () => `${process.pid}:another-boot-1:abc`],
    ['nobody', () => 'rubbish'],
  ])('is taken from %s', async (_, claim) => {
    const path = join(newFolder(), 'open.lock');
    symlinkSync(claim(), path);
    symlinkSync('2147483646:x:y', `${path}.left-guard`);
    (await acquireLock(path, 2000))();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('is taken over from an ordinary file in its place', async () => {
    const path = join(newFolder(), 'open.lock');
    writeFileSync(path, '');
    const release = await acquireLock(path, 2000);
    expect(readlinkSync(path)).toMatch(new RegExp(`^${process.pid}:`));
    release();
  });

  it('is not taken from a live process', async () => {
    const path = join(newFolder(), 'open.lock');
    symlinkSync(`${process.ppid}:${processStart(process.ppid)}:abc`, path);
    await expect(acquireLock(path, 100)).rejects.toThrow(`Process ${process.ppid}`);
  });

  it('never lets two processes in, also when holders are killed', async () => {
    const path = join(newFolder(), 'open.lock');
    // Half of them die inside, one after the other, so that the others race for a stale lock again and again.
    const children = [1, 2, 3, 4, 5, 6].map((n) => startChild('lock', path, '60', n % 2 ? String(n * 7) : '-1'));
    const reports = await Promise.all(children.map((child) => child.next().catch(() => 'killed')));
    expect(reports.filter((report) => report === 'killed')).toHaveLength(3);
    expect(reports.filter((report) => report !== 'killed')).toEqual([{ done: true }, { done: true }, { done: true }]);
  });
});
