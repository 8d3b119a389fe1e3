import { copyFileSync, readFileSync, statSync, truncateSync } from 'node:fs';

/** Size beyond which the server's log is rotated, bytes. */
const LOG_LIMIT = 5 * 1024 * 1024;

/**
 * Rotates the log, keeping one old copy. It is copied and truncated, not renamed, because the running server keeps the
 * file open for appending.
 *
 * @param path the log; may be missing
 * @param limit bytes
 */
export function rotateLog(path: string, limit = LOG_LIMIT): void {
  if (logSize(path) <= limit) return;
  try {
    copyFileSync(path, `${path}.1`);
  } catch {
    // On a full disk, truncating matters more than the copy.
  }
  truncateSync(path, 0);
}

/** @returns the size of the log in bytes, 0 when it is missing */
export function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * @param offset bytes, such as the size of the log before the server was started
 * @returns the text after the offset; all of it when the log has been rotated since; empty when it cannot be read
 */
export function readLogSince(path: string, offset: number): string {
  try {
    const content = readFileSync(path);
    return content.subarray(content.length < offset ? 0 : offset).toString('utf8');
  } catch {
    return '';
  }
}

/**
 * Picks the line that names the cause of a failure from the output of the server or of initdb.
 *
 * @returns the line without time and process id; undefined when the output is empty
 */
export function lastRelevantLine(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/^\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] /, '').trim())
    .filter(Boolean);
  // Most specific first: a full disk causes many errors, and a port in use is only named in a LOG line.
  const patterns = [/No space left|Disk quota/, /could not bind/, /\b(FATAL|PANIC):/, /\b(ERROR|error):/, /could not/];
  const matches = patterns.map((pattern) => lines.findLast((line) => pattern.test(line)));
  return matches.find(Boolean) ?? lines.at(-1);
}
