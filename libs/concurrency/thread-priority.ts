import { constants, setPriority } from 'node:os';

/**
 * Runs the calling thread before other threads that wait for a processor, on Linux, where the process has the right to: CAP_SYS_NICE
 * or RLIMIT_NICE (setpriority(2)). @returns whether it does
 */
export function preferThread(): boolean {
  // On Linux alone, a priority is that of the calling thread and not of its process.
  if (process.platform !== 'linux') return false;
  try {
    setPriority(constants.priority.PRIORITY_ABOVE_NORMAL);
    return true;
  } catch {
    return false;
  }
}
