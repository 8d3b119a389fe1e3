import { isHealthy } from '../agent/faults.js';
import { FAULTS_OVER, noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import type { Session, SessionSocket } from '../session-sockets.js';
import type { ElevenLabsAgents, ListedAgent } from './account.js';
import { type ElevenLabsFaultName, isElevenLabsFault } from './elevenlabs-faults.js';
import { ElevenLabsAgentSession, type ElevenLabsSessionOptions } from './session.js';

export interface ReferenceElevenLabsOptions
  extends VoiceServiceOptions, Omit<ElevenLabsSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer'> {}

const PROMPT = 'You take reservations for the restaurant Bella Vista.';

/** The reference agent as agents of ElevenLabs: one without a fault, and one with each fault. */
export class ReferenceElevenLabs implements ElevenLabsAgents {
  readonly listed: readonly ListedAgent[] = [
    'booking',
    ...FAULTS_OVER.elevenlabs.map((fault) => `booking:${fault}`),
  ].map((id) => ({
    id,
    name: id.replace('booking', 'Bella Vista').replace(':', ', '),
    language: 'en',
    prompt: PROMPT,
  }));
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: ReferenceElevenLabsOptions) {}

  missing(agent: string): string | undefined {
    return this.faultOf(agent) === null ? `Agent ${agent} not found. ${noSuchFault('elevenlabs')}` : undefined;
  }

  async begin(agent: string): Promise<((socket: SessionSocket) => Session) | undefined> {
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return undefined;
    const { now = Date.now, onAnswer, ...options } = this.options;
    return (socket) =>
      new ElevenLabsAgentSession(socket, {
        ...{ ...options, ...prepared, today: now() },
        fault: this.faultOf(agent) ?? undefined,
        // The stamp is from the arrival of the last message; recognising the line took until now.
        onAnswer: (stamp) => onAnswer?.({ ...stamp, firstByteMs: performance.now() }),
      });
  }

  /** @returns null if there is no such agent. The testing service sends the name of its assistant: the fault of the options. */
  private faultOf(agent: string): ElevenLabsFaultName | undefined | null {
    if (!agent.startsWith('booking:')) return this.options.fault;
    const fault = agent.slice('booking:'.length);
    if (isHealthy(fault)) return undefined;
    return isElevenLabsFault(fault) ? fault : null;
  }
}
