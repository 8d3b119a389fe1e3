import type { RecordedCall } from '../voice/wire/voice-transport.js';
import { type CallOptions, type CallResult, executeCall } from './call.js';

export type ImportedCallOptions = Omit<CallOptions, 'transport' | 'voice' | 'judged' | 'onAborted' | 'patienceMs'> &
  Pick<RecordedCall, 'facts'> & {
    /** UUID of the attempt, under which the recording is stored. */
    readonly callId: string;
  };

/** Name of what brought a call that was recorded elsewhere, in place of a transport. */
export const RECORDING = 'recording';

/**
 * The result of a call that was recorded elsewhere, by the same definitions as of a call of the service. What a recording
 * does not show is null or undecided.
 * @param facts from `importedFacts`
 * @throws the signal's reason
 */
export const executeImportedCall = ({ facts, callId, ...options }: ImportedCallOptions): Promise<CallResult> =>
  executeCall({
    ...options,
    transport: {
      name: RECORDING,
      clock: 'recorded',
      facts,
      exchange: { protocol: RECORDING, url: '', callId, requests: [], omittedRequests: 0 },
    },
  });
