import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EvaluationInput, normalise } from '../../../evaluation-definition/index.js';
import { type CallResult, executeCall, twilioProtocol, virtualCalls } from '../../../simulation/index.js';
import { CachedSpeech, FliteEngine, soundOf } from '../../../speech/index.js';
import { type PreparedVoice, prepareVoice } from '../prepare.js';
import { TwilioAgentSession } from '../twilio-session.js';
import type { VoiceAgentOptions } from '../voice-agent.js';

/** Friday, 4 December 2026. */
export const TODAY = Date.UTC(2026, 11, 4, 10);

const sid = (prefix: string, digit: string): string => prefix + digit.repeat(32);

/** Calls of the reference agent in this process, on virtual time, with the embedded voices. */
export class VoiceCalls {
  private readonly engine = new FliteEngine();
  private readonly speech = new CachedSpeech(this.engine, { folder: path.join(tmpdir(), 'reference-agent-speech') });
  private prepared: PreparedVoice | undefined;

  async prepare(): Promise<void> {
    this.prepared = await prepareVoice({ speech: this.speech, today: TODAY });
  }

  /** @param voice of the caller */
  call(
    evaluation: EvaluationInput,
    voice: string,
    options: Pick<VoiceAgentOptions, 'fault' | 'responseMs' | 'onAnswer'> = {},
  ): Promise<CallResult> {
    const { prepared } = this;
    if (!prepared) throw new Error('prepare() was not called');
    const stream = { accountSid: sid('AC', '0'), callSid: sid('CA', '1'), streamSid: sid('MZ', '2') };
    return executeCall({
      definition: normalise(evaluation),
      scenario: { scenarioText: evaluation.scenarioText },
      personality: { name: 'Caller' },
      transport: virtualCalls({
        protocol: twilioProtocol({ ...stream, customParameters: {}, secrets: [] }),
        agent: (socket) => new TwilioAgentSession(socket, { ...prepared, ...options, today: TODAY }),
      }),
      voice: { sounds: { synthesise: (request, signal) => this.speech.synthesise(request, signal), soundOf }, voice },
    });
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}
