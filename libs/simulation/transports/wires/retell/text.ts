import { Connections } from '../../../../outbound-http/index.js';
import type { AgentEvent, Line, LineOptions, RequestRecord, Transport } from '../../../conversation/transport.js';
import { EXCHANGE_LIMITS } from '../../../other-side/call-exchange.js';
import { CallFailure, failureOf } from '../../../timeline/failure.js';
import { parseArguments } from '../../../timeline/text.js';
import { agentUrl } from '../../http/agent-url.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import type { Variables } from '../../modules/common-options.js';
import { ANSWER_LIMITS, DEFAULT_ANSWER_TIMEOUT_MS } from '../../text/chat-completions/limits.js';
import { Pacer } from '../../text/chat-completions/pacer.js';
import { type Json, objectOf, RetellApi, textOf } from './api.js';
import { toolMocks } from './tool-mocks.js';

const PATH = '/agent-playground-completion/{assistantId}';
/** Where the conversation stands; the platform keeps nothing between two requests. */
const STATE = ['current_state', 'current_node_id', 'component_id'] as const;
const MAX_MESSAGES = 100;
const MAX_STATE = 1_000;
const CONCURRENCY_MS = 5_000;
/** One per process, because all calls share its event loop. */
const pacer = new Pacer();

/** Turns of text with an agent of Retell, each a request with the whole conversation. */
export function retellTransport(endpoint: AgentEndpoint, call: AgentCall): Transport {
  const { url, shownUrl, ...account } = endpoint;
  const shown = shownUrl === undefined ? {} : { shownUrl: agentUrl(shownUrl, call) };
  const api = new RetellApi({ ...account, ...shown, url: agentUrl(url, call), client: call.client });
  return {
    name: endpoint.protocol,
    secrets: api.secrets,
    connect: (options) => new RetellLine(api, endpoint, call, options),
  };
}

class RetellLine implements Line {
  readonly agentSpeaksFirst: boolean;
  readonly identity: NonNullable<Line['identity']>;
  /** Kept for the whole call, so that latencies do not include repeated connection set-up. */
  private readonly connections = new Connections();
  /** The conversation as JSON, with the platform's own messages as they came. */
  private readonly messages: string[] = [];
  private historySize = 0;
  private state: Json = {};
  private variables: Json;
  private readonly mocks: string;
  private isOver = false;
  private isChecked = false;

  constructor(
    private readonly api: RetellApi,
    endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    private readonly line: LineOptions,
  ) {
    this.agentSpeaksFirst = endpoint.firstSpeaker === 'agent';
    this.identity = { protocol: endpoint.protocol, url: api.platform.address, callId: call.callId };
    const given = call.variables ?? (endpoint.options['variables'] as Variables | undefined) ?? {};
    // The platform takes texts alone.
    this.variables = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)]));
    this.mocks = JSON.stringify(toolMocks(call.toolResults ?? []));
  }

  greet(): Promise<number> {
    return this.send();
  }

  async say(text: string) {
    this.remember({ role: 'user', content: text });
    const moment = await this.send();
    return { start: moment, end: moment };
  }

  hangUp(): void {
    this.isOver = true;
    this.connections.close();
  }

  private emit(event: AgentEvent): void {
    if (!this.isOver) this.line.emit(event);
  }

  /** Sends the conversation; the answer follows as events. @returns the clock time at which the request was sent */
  private async send(): Promise<number> {
    const { clock } = this.line;
    await clock.awaitExternal(this.connections.prepare());
    await clock.awaitExternal(pacer.turn());
    const sent = new Promise<number>((resolve) => {
      void clock.awaitExternal(this.answer(() => resolve(clock.now())));
    });
    return clock.awaitExternal(sent);
  }

  /** One turn of the agent; never throws. @param onSent called once the request is sent, or has failed */
  private async answer(onSent: () => void): Promise<void> {
    const now = () => this.line.clock.now();
    const record: RequestRecord = { tokensAt: [] };
    try {
      await this.checkConcurrency();
      this.emit({ type: 'request', at: now(), request: record });
      const hasEnded = this.take(await this.completion(record, onSent), record);
      this.emit(hasEnded ? { type: 'hang_up', at: now(), reason: '' } : { type: 'turn_end', at: now() });
    } catch (error) {
      this.emit({ type: 'failure', at: now(), failure: failureOf(error) });
    } finally {
      onSent();
    }
  }

  /** Once a call. What cannot be read decides nothing: the request itself is refused, then. */
  private async checkConcurrency(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    const { onPhase } = this.line;
    const { connections } = this;
    const asked = { method: 'GET', path: '/get-concurrency', timeoutMs: CONCURRENCY_MS, maxBytes: 64 * 1024 } as const;
    const found = await this.api.send({ ...asked, connections, onPhase }).catch((): Json => ({}));
    const { current_concurrency: current, concurrency_limit: limit } = found;
    if (typeof current !== 'number' || typeof limit !== 'number' || current < limit) return;
    const what = `${current} of the ${limit} calls at once that the account has are in use`;
    throw this.api.failure('platform_busy', { what });
  }

  private completion(record: RequestRecord, onSent: () => void): Promise<Json> {
    const { assistantVersion: version, callId } = this.call;
    const { onPhase, clock } = this.line;
    const state = Object.entries(this.state).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
    const variables = JSON.stringify(this.variables);
    return this.api.send({
      method: 'POST',
      path: agentUrl(PATH, this.call),
      body: `{"messages":[${this.messages.join(',')}],"dynamic_variables":${variables},"tool_mocks":${this.mocks}${state.join('')}}`,
      ...(version !== undefined && { query: { version: version.toWellFormed() } }),
      headers: { 'x-call-id': callId },
      ...{
        timeoutMs: DEFAULT_ANSWER_TIMEOUT_MS,
        maxBytes: ANSWER_LIMITS.event,
        connections: this.connections,
        onPhase,
      },
      onSent: () => {
        record.sentAt = clock.now();
        onSent();
      },
      onResponse: (status, said) => {
        Object.assign(record, { status, firstByteAt: clock.now() });
        if (status >= 300) record.said = this.api.platform.excerpt(said);
      },
    });
  }

  /** Takes an answer in. @returns whether the agent has ended the call. @throws CallFailure */
  private take(answer: Json, record: RequestRecord): boolean {
    const { messages, call_ended: hasEnded, dynamic_variables: variables } = answer;
    if (!Array.isArray(messages))
      throw this.api.failure('bad_response', { what: 'its answer has no list of messages' });
    if (messages.length > MAX_MESSAGES) throw new CallFailure('answer_too_large', `more than ${MAX_MESSAGES} messages`);
    const found = messages.map(objectOf);
    for (const message of found) {
      this.remember(message);
      this.report(message, found, record);
    }
    for (const name of STATE) {
      const value = textOf(answer[name]);
      if (value !== null && value.length <= MAX_STATE) this.state = { ...this.state, [name]: value };
    }
    const texts = Object.entries(objectOf(variables)).filter(([, value]) => typeof value === 'string');
    this.variables = { ...this.variables, ...Object.fromEntries(texts) };
    return hasEnded === true;
  }

  private report(message: Json, all: readonly Json[], record: RequestRecord): void {
    const at = this.line.clock.now();
    const content = textOf(message['content']);
    if (message['role'] === 'agent' && content !== null) {
      if (record.tokensAt.length < EXCHANGE_LIMITS.tokens) record.tokensAt.push(at);
      this.emit({ type: 'speech', at, text: content });
      this.emit({ type: 'speech_end', at });
    }
    if (message['role'] !== 'tool_call_invocation') return;
    const json = textOf(message['arguments']) ?? '{}';
    const args = parseArguments(json);
    const { content: result } =
      all.find(({ role, tool_call_id: id }) => role === 'tool_call_result' && id === message['tool_call_id']) ?? {};
    this.emit({
      ...{ type: 'tool_call', at, endedAt: at, name: textOf(message['name']) ?? '', arguments: args },
      ...(args === null && { rawArguments: json }),
      ...(typeof result === 'string' && { result }),
    });
  }

  private remember(message: object): void {
    const json = JSON.stringify(message);
    this.historySize += json.length;
    if (this.historySize > ANSWER_LIMITS.history) throw new CallFailure('answer_too_large', 'the whole conversation');
    this.messages.push(json);
  }
}
