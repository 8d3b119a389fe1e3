import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Tells in which space of process numbers this process is: two processes with the same answer can see each other's
 * numbers. On Linux that is this start of the machine and the container; elsewhere the host's name has to do.
 */
export function machineId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Whether a process with this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Someone else's process is alive as well.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
