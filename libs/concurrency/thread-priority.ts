import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import path from 'node:path';

/**
 * Runs the calling thread before other threads that wait for a processor, on Linux, where the process has the right to: CAP_SYS_NICE
 * or RLIMIT_NICE (setpriority(2)). @returns whether it does
 */
export function preferThread(): boolean {
  try {
    // On Linux a priority is that of a thread: <process>/task/<thread>.
    const thread = Number(path.basename(readlinkSync('/proc/thread-self')));
    setPriority(thread, constants.priority.PRIORITY_ABOVE_NORMAL);
    return true;
  } catch {
    return false;
  }
}
