import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isHealthy } from '../agent/faults.js';
import { answer, decoded, refuse } from '../http.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, type VoiceServiceOptions } from '../agent/voice/voice-service.js';
import { SessionSockets } from '../session-sockets.js';
import { agentOf, listOfAgents } from './account.js';
import { type ElevenLabsFaultName, isElevenLabsFault } from './elevenlabs-faults.js';
import { ElevenLabsAgentSession, type ElevenLabsSessionOptions } from './session.js';

export interface ElevenLabsServiceOptions
  extends VoiceServiceOptions, Omit<ElevenLabsSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer'> {}

const PATH = '/v1/convai/conversation';
const AGENTS = '/v1/convai/agents';
const VALID_MS = 15 * 60_000;
const MAX_SIGNED = 10_000;

/** The agent as one of ElevenLabs: the API that signs addresses, and the conversations, on the HTTP server of the text agent. */
export class ElevenLabsService {
  private readonly sockets = new SessionSockets();
  private readonly signed = new Map<string, number>();
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: ElevenLabsServiceOptions) {}

  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { pathname = '', searchParams } = urlOf(request) ?? {};
    const isSigning = pathname === `${PATH}/get-signed-url`;
    const isListing = pathname === AGENTS || pathname.startsWith(`${AGENTS}/`);
    if (request.method !== 'GET' || !(isSigning || isListing)) return Promise.resolve(false);
    const { apiKey } = this.options;
    if (apiKey !== undefined && request.headers['xi-api-key'] !== apiKey) {
      answer(response, 401, { detail: { status: 'invalid_api_key', message: 'Invalid API key' } });
    } else if (isSigning) {
      this.sign(searchParams?.get('agent_id') ?? '', request.headers.host ?? 'localhost', response);
    } else {
      const agent = decoded(pathname.slice(AGENTS.length + 1));
      const found = agent === '' ? listOfAgents() : agentOf(agent);
      if (found) answer(response, 200, found);
      else unknown(response, agent);
    }
    return Promise.resolve(true);
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const url = urlOf(request);
    if (!url) return refuse(socket, '400 Bad Request');
    const { pathname, searchParams } = url;
    const fault = faultOf(searchParams.get('agent_id') ?? '');
    if (pathname !== PATH || fault === undefined) return refuse(socket, '404 Not Found');
    const at = this.signed.get(searchParams.get('conversation_signature') ?? '');
    if (at === undefined || Date.now() - at > VALID_MS) return refuse(socket, '403 Forbidden');
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return refuse(socket, '503 Service Unavailable');
    const { now = Date.now, onAnswer, ...options } = this.options;
    this.sockets.accept(
      request,
      socket,
      head,
      (line) =>
        new ElevenLabsAgentSession(line, {
          ...options,
          ...prepared,
          // A name without a fault, such as that which the testing service sends, has the configured fault.
          fault: fault === 'configured' ? options.fault : fault === 'none' ? undefined : fault,
          today: now(),
          // The stamp is from the arrival of the last message; recognising the line took until now.
          onAnswer: (stamp) => onAnswer?.({ ...stamp, firstByteMs: performance.now() }),
        }),
    );
  }

  close(): void {
    this.sockets.close();
  }

  private sign(agent: string, host: string, response: ServerResponse): void {
    if (faultOf(agent) === undefined) return unknown(response, agent);
    const signature = randomBytes(15).toString('base64url');
    this.signed.set(signature, Date.now());
    if (this.signed.size > MAX_SIGNED) this.signed.delete(this.signed.keys().next().value!);
    const query = new URLSearchParams({ agent_id: agent, conversation_signature: signature }).toString();
    answer(response, 200, { signed_url: `ws://${host}${PATH}?${query}` });
  }
}

const urlOf = ({ url = '' }: IncomingMessage): URL | undefined =>
  URL.canParse(url, 'http://agent') ? new URL(url, 'http://agent') : undefined;

/** @returns undefined for an unknown agent */
function faultOf(agent: string): ElevenLabsFaultName | 'none' | 'configured' | undefined {
  if (!agent.startsWith('booking:')) return 'configured';
  const fault = agent.slice('booking:'.length);
  if (isHealthy(fault)) return 'none';
  return isElevenLabsFault(fault) ? fault : undefined;
}

function unknown(response: ServerResponse, agent: string): void {
  const message = `Agent ${agent} not found. ${noSuchFault('elevenlabs')}`;
  answer(response, 404, { detail: { status: 'document_not_found', message } });
}
