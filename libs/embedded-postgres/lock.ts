import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.js';
import { errorCode, isProcess, POLL_MS, processStart } from './process.js';

/**
 * An exclusive lock among processes that survives `kill -9` of its holder.
 *
 * The lock is a symbolic link that points nowhere: its target text names the holder ("pid:start:nonce"). Creating a
 * link is atomic together with its text, so nobody ever reads a half-written lock as with an ordinary file.
 */

/** What to put in a lock of this process; the nonce tells two locks of the same process apart. */
function newClaim(): string {
  return [process.pid, processStart(process.pid) ?? '', randomBytes(6).toString('hex')].join(':');
}

function isAlive(claim: string): boolean {
  const [pid = '', start = ''] = claim.split(':');
  return /^[1-9]\d*$/.test(pid) && isProcess(Number(pid), start);
}

function tryCreate(path: string, claim: string): boolean {
  try {
    symlinkSync(claim, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** The claim in a lock; undefined when there is none, '' when the file is not a lock of ours. */
function readClaim(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'EINVAL') return '';
    throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/**
 * Removes the lock of a dead holder. "Read, then unlink" alone would let a second process unlink the fresh lock that
 * a first one has created in between; so the removal of this very claim is itself done under a lock of its own,
 * whose dead holders are removed in the same way.
 */
function breakStale(path: string, staleClaim: string): void {
  const guard = `${path}.${createHash('sha256').update(staleClaim).digest('hex').slice(0, 12)}`;
  const claim = newClaim();
  if (!tryCreate(guard, claim)) {
    const other = readClaim(guard);
    if (other !== undefined && !isAlive(other)) breakStale(guard, other);
    return;
  }
  try {
    if (readClaim(path) === staleClaim) remove(path);
  } finally {
    remove(guard);
  }
}

/** Guards of processes that were killed while they held one. Harmless: their claims never come back. */
function removeLeftGuards(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(prefix)) remove(join(dirname(path), name));
  }
}

/**
 * Waits for the exclusive lock and takes it.
 *
 * @param path the lock's file; its folder must exist
 * @param timeoutMs how long to wait for other holders, milliseconds
 * @returns gives the lock back; may be called more than once
 * @throws EmbeddedPostgresError when another live process keeps the lock for too long; file system errors as they are
 */
export async function acquireLock(path: string, timeoutMs: number): Promise<() => void> {
  const claim = newClaim();
  const deadline = Date.now() + timeoutMs;
  while (!tryCreate(path, claim)) {
    const theirs = readClaim(path);
    if (theirs === undefined) continue;
    if (!isAlive(theirs)) {
      breakStale(path, theirs);
    } else if (Date.now() > deadline) {
      throw new EmbeddedPostgresError(
        `Process ${theirs.split(':')[0]} has kept ${path} for more than ${Math.round(timeoutMs / 1000)} s. ` +
          `Wait for that process or end it; if it is none of this program, delete that file.`,
      );
    }
    await sleep(POLL_MS);
  }
  try {
    removeLeftGuards(path);
  } catch {
    // Only tidiness.
  }
  return () => {
    if (readClaim(path) === claim) remove(path);
  };
}
