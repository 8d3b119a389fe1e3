import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';
import { errorCode } from './process.js';

/** The server's own log is moved away (one old copy) beyond this size, bytes. */
export const LOG_LIMIT = 5 * 1024 * 1024;

/**
 * Keeps the log from growing without bound. Copies and empties it instead of renaming it, because a running server
 * keeps its file open; it appends, so the emptied file starts at its beginning again.
 *
 * @param path the log; may be missing
 * @param limit bytes
 */
export function trimLog(path: string, limit = LOG_LIMIT): void {
  try {
    if (statSync(path).size <= limit) return;
    copyFileSync(path, `${path}.1`);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    // A full disk is one more reason to empty the file.
  }
  try {
    truncateSync(path, 0);
  } catch {
    // Another user's file; its owner will do it.
  }
}

/** @returns the present size of the log in bytes, 0 when there is none */
export function logSize(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/**
 * @param offset bytes; where to start, such as the size of the log before the server was started
 * @returns what was written since then, at most the last 16 KiB
 */
export function readLogSince(path: string, offset: number): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      // Smaller than before: it was emptied in between.
      const start = Math.max(size < offset ? 0 : offset, size - 16_384);
      const buffer = Buffer.alloc(Math.max(0, size - start));
      return buffer.toString('utf8', 0, readSync(file, buffer, 0, buffer.length, start));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

/**
 * The line that says what went wrong, in the output of the server or of initdb.
 *
 * @returns without time and process number; undefined when nothing was written
 */
export function lastRelevantLine(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] /, '').trim())
    .filter(Boolean);
  // A full disk brings many consequences, and a taken port is only named in a LOG line before
  // "FATAL: could not create any TCP/IP sockets".
  const candidates = [
    /No space left|Disk quota/,
    /could not bind/,
    /\b(FATAL|PANIC):/,
    /\b(ERROR|error):/,
    /could not|No space|denied|cannot/,
  ];
  for (const pattern of candidates) {
    const line = lines.findLast((candidate) => pattern.test(candidate));
    if (line) return line;
  }
  return lines.at(-1);
}
