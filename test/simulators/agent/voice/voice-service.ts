import type { PreparedVoice } from './prepare.js';
import type { AnswerStamp } from './voice-agent.js';

/** Of an agent that is called over a WebSocket. */
export interface VoiceServiceOptions {
  /** Must be sent by callers, if it is given. */
  readonly apiKey?: string | undefined;
  readonly now?: () => number;
  /** Synthesises what the agent speaks and hears with. */
  readonly prepare: () => Promise<PreparedVoice>;
  /** Called with the agent's own times of each answer, on the clock of `performance.now()`. */
  readonly onAnswer?: (stamp: AnswerStamp) => void;
}

/** Starts to prepare a voice, once; calls wait for it, and a failure is reported to each of them. */
export function preparedOnce(prepare: () => Promise<PreparedVoice>): () => Promise<PreparedVoice> {
  let prepared: Promise<PreparedVoice> | undefined;
  return () => {
    if (!prepared) {
      prepared = prepare();
      prepared.catch(() => undefined);
    }
    return prepared;
  };
}
