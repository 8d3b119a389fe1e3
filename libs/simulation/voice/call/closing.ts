import { type Failure, failure } from '../../timeline/failure.js';
import type { VoiceFacts } from '../facts/facts.js';

/** How a connection was closed (RFC 6455, section 7.4). */
export interface Closing {
  readonly code: number;
  readonly reason: string;
}

export type CallEnd = Omit<VoiceFacts['end'], 'atMs'>;

/** Close codes of an agent that hangs up (RFC 6455, section 7.4.1); 1005 means that there was no code. */
export const HANG_UP_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** How a close code ends the call. @param isBegun whether the platform was ready for audio */
export function endByClosing({ code, reason }: Closing, isBegun: boolean): { end: CallEnd; broken?: Failure } {
  const why = reason === '' ? '' : `: ${reason}`;
  if (!isBegun) return brokenOff(failure('not_ready', `it closed the connection with code ${code}${why}`));
  if (!HANG_UP_CODES.has(code)) return brokenOff(failure('connection_lost', `closed with code ${code}${why}`));
  return { end: { by: 'agent', code: 'agent_hung_up', reason: `The agent hung up${why}` } };
}

export const brokenOff = (broken: Failure): { end: CallEnd; broken: Failure } => ({
  end: { by: 'tester', code: 'failure', reason: broken.message },
  broken,
});

/** @param came what the platform sent in that time, in a few words */
export const notReady = (ms: number, came = 'nothing'): Failure =>
  failure('not_ready', `${came} within ${ms / 1_000} s of the connection`);
