import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AgentFailure,
  type AnswerPart,
  createReferenceAgent,
  type ReferenceAgent,
  type ReferenceAgentOptions,
} from './agent.js';
import { ChunkWriter, completion, type CompletionHead } from './completion-format.js';
import { type CompletionRequest, readCompletionRequest } from './completion-request.js';
import { FAULT_NAMES, type FaultName, isFault, isHealthy } from './faults.js';
import { answer, readBody, RequestError } from '../http.js';
import { ReferenceRetell, type ReferenceRetellOptions } from '../retell/reference.js';
import { RetellPlatform } from '../retell/server.js';
import { ElevenLabsService, type ElevenLabsServiceOptions } from '../elevenlabs/service.js';
import { RealtimeService, type RealtimeServiceOptions } from '../openai-realtime/service.js';
import { PipecatService, type PipecatServiceOptions } from '../pipecat/service.js';
import { ReferenceVapi, type ReferenceVapiOptions } from '../vapi/reference.js';
import { VapiPlatform } from '../vapi/server.js';
import { realCall } from './real-callers.js';
import { Telephone, type TelephoneOptions } from '../twilio/telephone.js';

export interface ReferenceAgentServerOptions extends ReferenceAgentOptions {
  /** 0 chooses a free port. */
  readonly port?: number;
  readonly host?: string;
  /** The agent also answers the telephone (Twilio Media Streams). */
  readonly telephone?: TelephoneOptions;
  /** In place of the telephone, the agent is a Realtime server. */
  readonly realtime?: RealtimeServiceOptions;
  /** In place of the telephone, the agent is one of ElevenLabs, over voice and text. */
  readonly elevenlabs?: ElevenLabsServiceOptions;
  /** In place of the telephone, the agent is an assistant of Vapi, over voice and chat. */
  readonly vapi?: ReferenceVapiOptions;
  /** In place of the telephone, the agent is one of Retell, in text and, if it has a voice, over SIP. */
  readonly retell?: ReferenceRetellOptions & {
    readonly apiKey?: string | undefined;
    /** How often a real caller has a call with the agent, of which the platform keeps the record. */
    readonly callsEveryMs?: number | undefined;
  };
  /** In place of the telephone, the agent is a bot of Pipecat. */
  readonly pipecat?: PipecatServiceOptions;
}

/** What answers on the agent's port beside chat completions. */
type VoiceService = Pick<Telephone, 'handle' | 'upgrade' | 'close'> & {
  prepare(): Promise<unknown>;
  /** Further ports are taken. */
  listen?(port: number): Promise<void>;
  readonly sipServer?: string | undefined;
};

export interface ReferenceAgentServer {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Where calls over SIP are taken, if they are: at the next port. */
  readonly sipServer?: string | undefined;
  /** Closes all connections and frees the port. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 4010;
export const DEFAULT_HOST = '127.0.0.1';
/** The agent's name in paths and models; `booking:FAULT` is the same agent with that fault. */
export const AGENT_NAME = 'booking';

const ADDRESS = /^(?:\/agents\/([^/]{1,100}))?\/v1\/chat\/completions$/;

/**
 * Starts an OpenAI-compatible server for the agent: `POST /v1/chat/completions` has the fault of the options, and
 * `POST /agents/booking:FAULT/v1/chat/completions` (or the model `booking:FAULT`) has the given fault.
 */
export async function startReferenceAgent(options: ReferenceAgentServerOptions = {}): Promise<ReferenceAgentServer> {
  const { port = DEFAULT_PORT, host = DEFAULT_HOST } = options;
  const voice = voiceServiceOf(options);
  const handler = new Handler(options, voice);
  const server = createServer((request, response) => void handler.handle(request, response));
  if (voice) {
    server.on('upgrade', (request, socket, head) => {
      // Node does not listen for errors of an upgraded connection, which a reset would throw.
      socket.on('error', () => socket.destroy());
      void voice.upgrade(request, socket, head);
    });
  }
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  server.keepAliveTimeout = 30_000;
  server.listen(port, host);
  await once(server, 'listening');
  await voice?.listen?.(port === 0 ? 0 : port + 1);
  void voice?.prepare();
  return {
    url: urlOf(server),
    sipServer: voice?.sipServer,
    close: () => {
      voice?.close();
      return close(server);
    },
  };
}

function voiceServiceOf(options: ReferenceAgentServerOptions): VoiceService | undefined {
  const { telephone, realtime, elevenlabs, retell, vapi, pipecat } = options;
  if (retell) {
    const agents = new ReferenceRetell({ ...options, ...retell });
    const voice = retell.prepare ? { voice: (agent: string) => agents.voice(agent) } : {};
    const { apiKey, callsEveryMs: everyMs } = retell;
    const agent = createReferenceAgent(options);
    const realCalls = everyMs === undefined ? {} : { realCalls: { everyMs, next: () => realCall(agent, AGENT_NAME) } };
    return new RetellPlatform(agents, { apiKey, ...voice, ...realCalls });
  }
  if (elevenlabs) return new ElevenLabsService(elevenlabs);
  if (pipecat) return new PipecatService(pipecat);
  if (vapi) return new VapiPlatform(new ReferenceVapi(vapi), { apiKey: vapi.apiKey });
  return realtime ? new RealtimeService(realtime) : telephone && new Telephone(telephone);
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

class Handler {
  private readonly agents = new Map<FaultName | undefined, ReferenceAgent>();

  constructor(
    private readonly options: ReferenceAgentOptions,
    private readonly voice: VoiceService | undefined,
  ) {
    for (const fault of [undefined, ...FAULT_NAMES])
      this.agents.set(fault, createReferenceAgent({ ...options, fault }));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const disconnected = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) disconnected.abort();
    });
    try {
      const path = (request.url ?? '').split('?')[0] ?? '';
      if (path === '/health' && request.method === 'GET') return answer(response, 200, { status: 'ok' });
      if (path === '/v1/models' && request.method === 'GET') return answer(response, 200, MODELS);
      if (await this.voice?.handle(request, response)) return;
      const match = ADDRESS.exec(path);
      if (!match) throw new RequestError(404, `Unknown path ${path.slice(0, 200)}`, null, 'unknown_url');
      if (request.method !== 'POST')
        throw new RequestError(405, 'Only POST is allowed here', null, 'method_not_allowed');
      const completionRequest = readCompletionRequest(await readBody(request));
      const agent = this.agentFor(match[1], completionRequest.model);
      await this.answer(agent, completionRequest, response, disconnected.signal);
    } catch (error) {
      fail(request, response, error);
    }
  }

  /** The path takes precedence over the model, and the model over the configured fault. */
  private agentFor(segment: string | undefined, model: string): ReferenceAgent {
    const inPath = segment === undefined ? undefined : decode(segment);
    const name = inPath ?? (model.split(':')[0] === AGENT_NAME ? model : undefined);
    // The testing service always sends the plain name, so the configured fault still applies to it.
    const fault = name === undefined || name === AGENT_NAME ? this.options.fault : faultOf(name);
    const agent = this.agents.get(fault);
    if (!agent) throw new RequestError(404, 'No such agent', 'model', 'model_not_found');
    return agent;
  }

  private async answer(
    agent: ReferenceAgent,
    request: CompletionRequest,
    response: ServerResponse,
    signal: AbortSignal,
  ) {
    const { messages, hostedTools, model } = request;
    const now = (this.options.now ?? Date.now)();
    const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(now / 1_000), model: model || AGENT_NAME };
    const parts = agent.respond(messages, { hostedTools, signal });
    if (request.isStreamed) return stream(parts, head, request.includesUsage, response, signal);
    const whole: AnswerPart[] = [];
    for await (const part of parts) whole.push(part);
    if (!signal.aborted) answer(response, 200, completion(head, whole));
  }
}

/** @throws RequestError for an unknown name */
function faultOf(name: string): FaultName | undefined {
  const [agent, fault = '', ...more] = name.split(':');
  if (agent === AGENT_NAME && more.length === 0 && (isHealthy(fault) || isFault(fault))) {
    return isFault(fault) ? fault : undefined;
  }
  throw new RequestError(404, `No such agent; valid names: ${NAMES.join(', ')}`, 'model', 'model_not_found');
}

const NAMES = [AGENT_NAME, `${AGENT_NAME}:healthy`, ...FAULT_NAMES.map((fault) => `${AGENT_NAME}:${fault}`)];
const MODELS = {
  object: 'list',
  data: NAMES.map((id) => ({ id, object: 'model', created: 0, owned_by: 'bella-vista' })),
};

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new RequestError(400, 'The path has an invalid percent-encoding', null, 'bad_path');
  }
}

async function stream(
  parts: AsyncIterable<AnswerPart>,
  head: CompletionHead,
  includesUsage: boolean,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const writer = new ChunkWriter(head, includesUsage);
  for await (const part of parts) {
    if (signal.aborted) return;
    // Headers are sent with the first part, so that an agent that fails earlier can still return a status.
    if (!response.headersSent) response.writeHead(200, STREAM_HEADERS);
    const events = writer.events(part);
    if (part.type === 'end') response.end(events);
    else if (!response.write(events)) await once(response, 'drain', { signal });
  }
}

const STREAM_HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' };

function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.writableEnded) return;
  const isCut = error instanceof AgentFailure && error.status === undefined;
  if (isCut || response.headersSent) return cut(response);
  // The rest of an unread body would otherwise be parsed as the next request.
  if (!request.complete) response.setHeader('Connection', 'close');
  if (error instanceof RequestError) return answer(response, error.status, error.body);
  const message = error instanceof AgentFailure ? error.message : 'Something went wrong';
  answer(response, 500, new RequestError(500, message, null, 'agent_failed').body);
}

/** Closes the connection in the middle of the response, once everything written so far has been sent. */
function cut(response: ServerResponse): void {
  // Not at once: a response holds its first parts back until the next tick, and Node.js 24.22 discards them then.
  setImmediate(() => response.socket?.destroySoon());
}
