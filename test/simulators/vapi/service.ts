import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AgentFailure } from '../agent/agent.js';
import { readObject } from '../agent/completion-request.js';
import { isFault, isHealthy } from '../agent/faults.js';
import { answer, readBody } from '../agent/http.js';
import { FAULTS_OVER, noSuchFault } from '../agent/voice/platform-faults.js';
import { preparedOnce, SessionSockets, type VoiceServiceOptions } from '../agent/voice/session-sockets.js';
import { refuse } from '../twilio/telephone.js';
import { Chats } from './chats.js';
import { VapiAgentSession, type VapiSessionOptions } from './session.js';
import { isVapiFault, type VapiFaultName } from './vapi-faults.js';

export interface VapiServiceOptions
  extends VoiceServiceOptions, Omit<VapiSessionOptions, 'today' | 'voice' | 'recogniser' | 'onAnswer' | 'format'> {}

interface PlacedCall {
  readonly record: object;
  readonly fault: VapiFaultName | undefined;
  readonly format: VapiSessionOptions['format'];
  status: 'queued' | 'in-progress' | 'ended';
  end: () => void;
}

type Body = Readonly<Record<string, unknown>>;

const MAX_CALLS = 10_000;
const ROUTES = /^\/(call|chat|assistant|phone-number)(?:\/([^/]+)(\/control)?)?$/;

/** The agent as an assistant of Vapi: its API, calls and chats, on the HTTP server of the text agent. */
export class VapiService {
  private readonly sockets = new SessionSockets();
  private readonly calls = new Map<string, PlacedCall>();
  private readonly chats = new Chats();
  readonly prepare = preparedOnce(() => this.options.prepare());

  constructor(private readonly options: VapiServiceOptions) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const [, route, id, control] = ROUTES.exec((request.url ?? '').split('?')[0] ?? '') ?? [];
    if (route === undefined) return false;
    const { method = '', headers } = request;
    const body = method === 'POST' ? readObject(await readBody(request)) : {};
    const { apiKey } = this.options;
    const isOpen = control !== undefined;
    const isKnown = isOpen || apiKey === undefined || headers.authorization === `Bearer ${apiKey}`;
    const [status, content] = isKnown
      ? await this.answer(`${method} ${route}`, { id, isOpen, body, host: headers.host ?? 'localhost' })
      : [401, { message: 'Invalid Key.', error: 'Unauthorized', statusCode: 401 }];
    if (status === 0) request.socket.destroy();
    else answer(response, status, content);
    return true;
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const call = this.calls.get(/^\/([^/]+)\/transport$/.exec(request.url ?? '')?.[1] ?? '');
    if (call?.status !== 'queued') return refuse(socket, '404 Not Found');
    const prepared = await this.prepare().catch(() => undefined);
    if (!prepared) return refuse(socket, '503 Service Unavailable');
    call.status = 'in-progress';
    const { now = Date.now, onAnswer, ...options } = this.options;
    this.sockets.accept(request, socket, head, (line) => {
      call.end = () => line.close();
      return new VapiAgentSession(line, {
        ...options,
        ...prepared,
        fault: call.fault,
        ...(call.format && { format: call.format }),
        today: now(),
        // Recognising the line took time after its last message had arrived.
        onAnswer: (stamp) => onAnswer?.({ ...stamp, firstByteMs: performance.now() }),
      });
    });
  }

  close(): void {
    this.sockets.close();
  }

  /** @returns status and body; status 0 cuts the connection */
  private answer(
    route: string,
    { id, isOpen, body, host }: { id: string | undefined; isOpen: boolean; body: Body; host: string },
  ): readonly [number, object] | Promise<readonly [number, object]> {
    const call = this.calls.get(id ?? '');
    switch (route) {
      case 'POST call':
        if (isOpen) return call ? this.control(call, body) : notFound('Call not found');
        return this.create(body, host);
      case 'GET call':
        if (id !== undefined) return call ? [200, recordOf(call)] : notFound('Call not found');
        return [200, [...this.calls.values()].map(recordOf)];
      case 'POST chat':
        return this.chat(body);
      case 'GET assistant':
        return [200, ASSISTANTS];
      case 'GET phone-number':
        return [200, []];
      default:
        return notFound('Not Found');
    }
  }

  private create(body: Body, host: string): readonly [number, object] {
    const agent = textOf(body['assistantId']);
    const fault = this.faultOf(agent);
    if (fault === 'unknown' || (fault !== undefined && !isVapiFault(fault))) return unknownAgent(agent);
    const { audioFormat } = (body['transport'] ?? {}) as { readonly audioFormat?: { readonly format?: unknown } };
    const id = randomUUID();
    const now = new Date().toISOString();
    const record = {
      ...{ id, orgId: 'org_reference', type: 'vapi.websocketCall', name: body['name'], assistantId: agent },
      ...{ createdAt: now, updatedAt: now, cost: 0 },
      transport: { provider: 'vapi.websocket', audioFormat, websocketCallUrl: `ws://${host}/${id}/transport` },
      monitor: { controlUrl: `http://${host}/call/${id}/control` },
    };
    const format = audioFormat?.format === 'mulaw' ? 'mulaw' : 'pcm_s16le';
    const call: PlacedCall = { record, fault, format, status: 'queued', end: () => undefined };
    this.calls.set(id, call);
    if (this.calls.size > MAX_CALLS) this.calls.delete(this.calls.keys().next().value!);
    return [201, recordOf(call)];
  }

  private control(call: PlacedCall, { type }: Body): readonly [number, object] {
    if (type !== 'end-call') return [400, { message: 'Only end-call is understood here' }];
    call.status = 'ended';
    call.end();
    return [201, {}];
  }

  private async chat({ assistantId, input, previousChatId }: Body): Promise<readonly [number, object]> {
    const agent = textOf(assistantId);
    const name = this.faultOf(agent);
    if (name === 'unknown') return unknownAgent(agent);
    const { now = Date.now, slowMs } = this.options;
    const fault = name !== undefined && isFault(name) ? { fault: name } : {};
    try {
      const options = { ...fault, now, ...(slowMs !== undefined && { slowMs }) };
      const chat = await this.chats.answer(textOf(input), previousChatId, options);
      return chat ? [201, { ...chat, assistantId }] : [400, { message: 'Previous chat not found', statusCode: 400 }];
    } catch (error) {
      if (!(error instanceof AgentFailure)) throw error;
      return [error.status ?? 0, { message: error.message, statusCode: error.status }];
    }
  }

  /** The testing service sends the name of its assistant, so the configured fault still applies to it. */
  private faultOf(agent: string): string | undefined {
    if (!agent.startsWith('booking:')) return this.options.fault;
    const fault = agent.slice('booking:'.length);
    if (isHealthy(fault)) return undefined;
    return isVapiFault(fault) || isFault(fault) ? fault : 'unknown';
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const recordOf = ({ record, status }: PlacedCall): object => ({ ...record, status });

const notFound = (message: string): readonly [number, object] => [
  404,
  { message, error: 'Not Found', statusCode: 404 },
];

const unknownAgent = (agent: string) =>
  notFound(`Couldn't get assistant. ${agent.slice(0, 100)} does not exist. ${noSuchFault('vapi')}`);

/** An assistant without a fault, and one with each fault. */
const ASSISTANTS = ['booking', ...FAULTS_OVER.vapi.map((fault) => `booking:${fault}`)].map((id) => ({
  ...{ id, orgId: 'org_reference', name: id.replace('booking', 'Bella Vista').replace(':', ', ') },
  model: {
    ...{ provider: 'custom-llm', model: 'rules' },
    messages: [{ role: 'system', content: 'You take reservations for the restaurant Bella Vista.' }],
  },
  transcriber: { provider: 'custom-transcriber', language: 'en' },
}));
