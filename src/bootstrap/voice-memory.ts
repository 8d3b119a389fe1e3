import { totalmem } from 'node:os';
import { SEND_LIMITS } from '../../libs/simulation/index.js';
import type { Settings } from '../platform/config/settings.js';

const MIB = 1024 * 1024;

/** What to say at start if the voice calls of one process may need more than half of the memory; undefined: nothing. */
export function voiceMemoryWarning(
  { role, voiceConcurrency }: Pick<Settings, 'role' | 'voiceConcurrency'>,
  memoryBytes = machineMemory(),
): string | undefined {
  const bytes = voiceConcurrency * SEND_LIMITS.memoryBytes;
  if (role === 'api' || bytes <= memoryBytes / 2) return undefined;
  const needed = `VOICE_CONCURRENCY=${voiceConcurrency} voice calls may need ${bytes / MIB} MiB`;
  return `${needed}, more than half of the memory (${Math.floor(memoryBytes / MIB)} MiB): set it lower`;
}

/** That of the machine, or of the container if it has less. */
function machineMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
