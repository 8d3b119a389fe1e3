import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isHealthy } from '../agent/faults.js';
import { answer, decoded, readBody, refuse } from '../http.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import { SessionSockets } from '../session-sockets.js';
import { isPipecatFault, type PipecatFaultName } from './pipecat-faults.js';
import { PipecatAgentSession, type PipecatSessionOptions } from './session.js';

export interface PipecatServiceOptions
  extends VoiceServiceOptions, Omit<PipecatSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer'> {}

const SOCKET = /^(?:\/agents\/([^/]{1,60}))?\/ws-client$/;
const START = /^(?:\/agents\/([^/]{1,60}))?\/start$/;
const MAX_TOKENS = 10_000;

/** The agent as a bot behind Pipecat's development runner: `/ws-client`, and `/start` that names it with a token. */
export class PipecatService {
  private readonly sockets = new SessionSockets();
  private readonly tokens = new Set<string>();
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: PipecatServiceOptions) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const match = START.exec(pathOf(request));
    if (!match || request.method !== 'POST') return false;
    const { apiKey } = this.options;
    if (this.faultOf(match[1]) === undefined) answer(response, 404, { detail: noSuchFault('pipecat') });
    else if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      answer(response, 401, { detail: 'Invalid API key' });
    } else {
      await readBody(request);
      const token = `${Date.now()}.${Math.random().toString(16).slice(2)}`;
      this.tokens.add(token);
      if (this.tokens.size > MAX_TOKENS) this.tokens.delete(this.tokens.values().next().value!);
      const path = request.url!.replace('/start', '/ws-client');
      answer(response, 200, { wsUrl: `ws://${request.headers.host}${path}`, token, sessionId: token });
    }
    return true;
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const match = SOCKET.exec(pathOf(request));
    const fault = match ? this.faultOf(match[1]) : undefined;
    if (fault === undefined) return refuse(socket, '404 Not Found', noSuchFault('pipecat'));
    if (!this.isAllowed(request)) return refuse(socket, '403 Forbidden');
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return refuse(socket, '503 Service Unavailable');
    const { now = Date.now, onAnswer, ...options } = this.options;
    this.sockets.accept(
      request,
      socket,
      head,
      (line) =>
        new PipecatAgentSession(line, {
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
  private faultOf(segment: string | undefined): PipecatFaultName | 'none' | undefined {
    const name = segment === undefined ? undefined : decoded(segment);
    // A name without a fault, such as that which the testing service sends, has the configured fault.
    if (!name?.startsWith('booking:')) return this.options.fault ?? 'none';
    const fault = name.slice('booking:'.length);
    if (isHealthy(fault)) return 'none';
    return isPipecatFault(fault) ? fault : undefined;
  }

  /** With a key, the socket takes a token of `/start` once, as the runner does with `--ws-auth token`. */
  private isAllowed({ url = '', headers }: IncomingMessage): boolean {
    const { apiKey } = this.options;
    if (apiKey === undefined || headers.authorization === `Bearer ${apiKey}`) return true;
    return this.tokens.delete(new URL(url, 'ws://agent').searchParams.get('token') ?? '');
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string =>
  URL.canParse(url, 'ws://agent') ? new URL(url, 'ws://agent').pathname : '';
