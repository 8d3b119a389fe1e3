import type { Violation } from '../../json-input/index.js';
import { LIMITS } from '../definition/limits.js';

/** A history that is too large to be sent with every request. */
export function historyViolations(value: object): Violation[] {
  const lines: unknown = 'history' in value ? value.history : undefined;
  if (!Array.isArray(lines) || Buffer.byteLength(JSON.stringify(lines)) <= LIMITS.historySize) return [];
  return [{ path: ['history'], text: `must have at most ${LIMITS.historySize} bytes (256 KiB) as JSON` }];
}
