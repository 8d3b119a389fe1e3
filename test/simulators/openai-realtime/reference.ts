import { isHealthy } from '../agent/faults.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import type { SessionSocket } from '../session-sockets.js';
import type { RealtimeAgents } from './messages.js';
import { isRealtimeFault } from './realtime-faults.js';
import { RealtimeAgentSession, type RealtimeSessionOptions } from './session.js';

export interface ReferenceRealtimeOptions
  extends VoiceServiceOptions, Omit<RealtimeSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer'> {}

/** The reference agent as agents of a Realtime server: one without a fault, and one with each fault. */
export class ReferenceRealtime implements RealtimeAgents {
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: ReferenceRealtimeOptions) {}

  async begin(agent: string) {
    const { now = Date.now, onAnswer, ...options } = this.options;
    // A name without a fault, such as that which the testing service sends, has the configured fault.
    const name = agent.startsWith('booking:') ? agent.slice('booking:'.length) : options.fault;
    const fault = name === undefined || isHealthy(name) ? undefined : name;
    if (fault !== undefined && !isRealtimeFault(fault))
      return ['404 Not Found', noSuchFault('openai-realtime')] as const;
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return ['503 Service Unavailable'] as const;
    return (socket: SessionSocket) =>
      new RealtimeAgentSession(socket, {
        ...{ ...options, ...prepared, fault, today: now() },
        // The stamp is from the arrival of the last message; recognising the line took until now.
        onAnswer: (stamp) => onAnswer?.({ ...stamp, firstByteMs: performance.now() }),
      });
  }
}
