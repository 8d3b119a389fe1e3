import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type FaultName,
  prepareVoice,
  type ReferenceAgentServerOptions,
  startReferenceAgent,
} from '../simulators/agent/index.js';
import { CachedSpeech, FliteEngine } from '../../libs/speech/index.js';

type Platform = 'realtime' | 'elevenlabs' | 'vapi' | 'retell' | 'pipecat';

export interface VoiceAgentOptions extends Omit<ReferenceAgentServerOptions, 'telephone' | Platform> {
  /** By default with a telephone. */
  readonly as?: Platform;
  /** Whose sentences are prepared, too. */
  readonly faults?: readonly FaultName[];
  /** What callers say to the agent. */
  readonly lines: readonly string[];
  /** Of the fault `slow-answer`, in milliseconds. */
  readonly slowMs?: number;
}

/** Starts the reference agent with a telephone that answers at once, or as a server of a platform. Its sentences are synthesised once for all test runs. */
export async function startVoiceAgent({ lines, slowMs, as, faults = [], ...options }: VoiceAgentOptions) {
  const engine = new FliteEngine();
  const speech = new CachedSpeech(engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });
  const prepared = await prepareVoice({ speech, today: Date.now(), lines, faults });
  const voice = { prepare: async () => prepared, ...(slowMs !== undefined && { slowMs }) };
  const { url, sipServer, close } = await startReferenceAgent({ port: 0, ...options, [as ?? 'telephone']: voice });
  return {
    url,
    sipServer,
    speech,
    close: async () => {
      await close();
      await engine.close();
    },
  };
}

export type VoiceAgentServer = Awaited<ReturnType<typeof startVoiceAgent>>;
