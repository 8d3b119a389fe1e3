import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { isHealthy } from '../agent/faults.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import { SessionSockets } from '../session-sockets.js';
import { refuse } from '../http.js';
import { isRealtimeFault, type RealtimeFaultName } from './realtime-faults.js';
import { RealtimeAgentSession, type RealtimeSessionOptions } from './session.js';

export interface RealtimeServiceOptions
  extends VoiceServiceOptions, Omit<RealtimeSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer'> {}

/** Also as a model: `?model=booking:FAULT`. */
const ADDRESS = /^(?:\/agents\/([^/]{1,60}))?(?:\/openai)?\/v1\/realtime$/;

/** The agent as a Realtime server, on the HTTP server of the text agent. */
export class RealtimeService {
  private readonly sockets: SessionSockets;
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: RealtimeServiceOptions) {
    this.sockets = new SessionSockets(options.oneWayMs);
  }

  /** It has no requests of its own. */
  handle(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const fault = this.faultOf(request);
    if (fault === undefined) return refuse(socket, '404 Not Found', noSuchFault('openai-realtime'));
    if (!this.isAllowed(request)) return refuse(socket, '401 Unauthorized');
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return refuse(socket, '503 Service Unavailable');
    const { now = Date.now, onAnswer, ...options } = this.options;
    this.sockets.accept(
      request,
      socket,
      head,
      (line) =>
        new RealtimeAgentSession(line, {
          ...options,
          ...prepared,
          fault: fault === 'none' ? undefined : fault,
          today: now(),
          // The stamp is from the arrival of the last message; recognising the line took until now.
          onAnswer: (stamp) => onAnswer?.({ ...stamp, firstByteMs: performance.now() }),
        }),
    );
  }

  close(): void {
    this.sockets.close();
  }

  /** @returns undefined for an unknown agent; `none` for the healthy one */
  private faultOf(request: IncomingMessage): RealtimeFaultName | 'none' | undefined {
    const path = request.url ?? '';
    if (!URL.canParse(path, 'ws://agent')) return undefined;
    const url = new URL(path, 'ws://agent');
    const match = ADDRESS.exec(url.pathname);
    if (!match) return undefined;
    // The testing service encodes what it inserts for `{assistantId}`.
    const name = match[1]?.replace(/%3A/i, ':') ?? url.searchParams.get('model') ?? '';
    const fault = name.startsWith('booking:') ? name.slice('booking:'.length) : undefined;
    // A name without a fault, such as that which the testing service sends, has the configured fault.
    if (fault === undefined) return this.options.fault ?? 'none';
    if (isHealthy(fault)) return 'none';
    return isRealtimeFault(fault) ? fault : undefined;
  }

  private isAllowed({ headers }: IncomingMessage): boolean {
    const { apiKey } = this.options;
    return apiKey === undefined || headers.authorization === `Bearer ${apiKey}` || headers['api-key'] === apiKey;
  }
}
