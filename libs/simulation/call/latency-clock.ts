import type { ProtocolName } from '../transports/modules/endpoint.js';
import { PROTOCOLS } from '../transports/protocols.js';
import { RECORDING } from './import.js';

/** What latencies are measured on: words of a text call, or the audio of a voice call as heard, on a telephone line or as estimated, or a
 * recording that was made elsewhere. */
export const LATENCY_CLOCKS = ['text', 'heard', 'line', 'estimated', 'recorded'] as const;
export type LatencyClock = (typeof LATENCY_CLOCKS)[number];

/** The clock of calls over a protocol; null for calls of earlier versions, whose protocol is not known. */
export function clockOf(protocol: ProtocolName | null): LatencyClock | null {
  if (protocol === null) return null;
  if (protocol === RECORDING) return 'recorded';
  const module = PROTOCOLS.of(protocol);
  return module.medium === 'text' ? 'text' : module.clock;
}
