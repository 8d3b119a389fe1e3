import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  prepareVoice,
  type ReferenceAgentServerOptions,
  startReferenceAgent,
} from '../../libs/reference-agent/index.js';
import { CachedSpeech, FliteEngine } from '../../libs/speech/index.js';

export interface VoiceAgentOptions extends Omit<ReferenceAgentServerOptions, 'telephone'> {
  /** What callers say to the agent. */
  readonly lines: readonly string[];
  /** Of the fault `slow-answer`, in milliseconds. */
  readonly slowMs?: number;
}

/** Starts the reference agent with a telephone that answers at once. Its sentences are synthesised once for all test runs. */
export async function startVoiceAgent({ lines, slowMs, ...options }: VoiceAgentOptions) {
  const engine = new FliteEngine();
  const speech = new CachedSpeech(engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });
  const prepared = await prepareVoice({ speech, today: Date.now(), lines });
  const telephone = { prepare: async () => prepared, ...(slowMs !== undefined && { slowMs }) };
  const { url, close } = await startReferenceAgent({ port: 0, ...options, telephone });
  return {
    url,
    speech,
    close: async () => {
      await close();
      await engine.close();
    },
  };
}

export type VoiceAgentServer = Awaited<ReturnType<typeof startVoiceAgent>>;
