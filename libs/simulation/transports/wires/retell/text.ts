import type { HistoryLine } from '../../../../evaluation-definition/index.js';
import type { Line, LineOptions, RequestRecord, Transport } from '../../../conversation/transport.js';
import { DEFAULT_TOOL_RESULT, type ToolAnswers, toolAnswers } from '../../../conversation/tool-results.js';
import { CallFailure } from '../../../timeline/failure.js';
import { parseArguments } from '../../../timeline/text.js';
import { agentUrl } from '../../http/agent-url.js';
import type { AgentCall, AgentEndpoint } from '../../modules/endpoint.js';
import { ANSWER_LIMITS, DEFAULT_ANSWER_TIMEOUT_MS, tooManyMessages } from '../../../completions/limits.js';
import { History } from '../../text/history.js';
import { RequestLine } from '../../text/request-line.js';
import { argumentsJson, contentOf, type Json, objectOf, textOf } from '../fields.js';
import { RetellApi } from '../retell-api/api.js';
import { toolMocks } from './tool-mocks.js';
import { textVariables } from './variables.js';

/** A line of the evaluation's history, in the messages of the platform. */
function givenMessages(given: HistoryLine, index: number): object[] {
  if ('caller' in given) return [{ role: 'user', content: given.caller }];
  if ('agent' in given) return [{ role: 'agent', content: given.agent }];
  const { tool: name, arguments: args = {}, result = DEFAULT_TOOL_RESULT } = given;
  const id = { tool_call_id: `call_before_${index}` };
  const content = typeof result === 'string' ? result : JSON.stringify(result);
  return [
    { role: 'tool_call_invocation', ...id, name, arguments: JSON.stringify(args) },
    { role: 'tool_call_result', ...id, content },
  ];
}

const PATH = '/agent-playground-completion/{assistantId}';
/** Where the conversation stands; the platform keeps nothing between two requests. */
const STATE = ['current_state', 'current_node_id', 'component_id'] as const;
const MAX_STATE = 1_000;
/** Characters of the dynamic variables, which grow from turn to turn. */
const MAX_VARIABLES = 512 * 1024;
/** Turns of text with an agent of Retell, each a request with the whole conversation. */
export function retellTransport(endpoint: AgentEndpoint, call: AgentCall): Transport {
  const api = RetellApi.of(endpoint, call);
  return {
    name: endpoint.protocol,
    secrets: api.secrets,
    connect: (options) => new RetellLine(api, endpoint, call, options),
  };
}

class RetellLine extends RequestLine {
  readonly agentSpeaksFirst: boolean;
  readonly identity: NonNullable<Line['identity']>;
  /** With the platform's own messages as they came. */
  private readonly history = new History();
  private state: Json = {};
  private variables: Json;
  private readonly mocks: string;
  private readonly answers: ToolAnswers;
  private isChecked = false;

  constructor(
    private readonly api: RetellApi,
    endpoint: AgentEndpoint,
    private readonly call: AgentCall,
    line: LineOptions,
  ) {
    super(line);
    this.agentSpeaksFirst = endpoint.firstSpeaker === 'agent';
    this.identity = { protocol: endpoint.protocol, url: api.platform.address, callId: call.callId };
    this.variables = textVariables(endpoint, call);
    this.mocks = JSON.stringify(toolMocks(call.toolResults ?? []));
    this.answers = toolAnswers(call.toolResults ?? []);
    for (const message of (line.history ?? []).flatMap(givenMessages)) this.history.add(message);
  }

  protected async turn(text: string | null, onSent: () => void): Promise<string | undefined> {
    if (text !== null) this.history.add({ role: 'user', content: text });
    await this.checkConcurrency();
    const record = this.begin();
    const hasEnded = this.take(await this.completion(record, onSent), record);
    return hasEnded ? '' : undefined;
  }

  /** Once a call. */
  private async checkConcurrency(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    const { connections, onStep } = this.recording({ tokensAt: [] }, () => undefined);
    await this.api.requireFreeCall({ connections, onStep });
  }

  private completion(record: RequestRecord, onSent: () => void): Promise<Json> {
    const { assistantVersion: version, callId } = this.call;
    const state = Object.entries(this.state).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
    const variables = JSON.stringify(this.variables);
    return this.api.object(agentUrl(PATH, this.call), {
      method: 'POST',
      body: `{"messages":${this.history.json},"dynamic_variables":${variables},"tool_mocks":${this.mocks}${state.join('')}}`,
      ...(version !== undefined && { query: { version } }),
      headers: { 'x-call-id': callId },
      ...{ timeoutMs: DEFAULT_ANSWER_TIMEOUT_MS, brokenOff: 'stream_cut', ...this.recording(record, onSent) },
    });
  }

  /** Takes an answer in. @returns whether the agent has ended the call. @throws CallFailure */
  private take(answer: Json, record: RequestRecord): boolean {
    const { messages, call_ended: hasEnded, dynamic_variables: variables } = answer;
    if (!Array.isArray(messages))
      throw this.api.failure('bad_response', { what: 'its answer has no list of messages' });
    if (messages.length > ANSWER_LIMITS.messages) throw tooManyMessages();
    const found = messages.map(objectOf);
    for (const message of found) {
      this.history.add(message);
      this.report(message, found, record);
    }
    for (const name of STATE) {
      const value = textOf(answer[name]);
      if (value !== null && value.length <= MAX_STATE) this.state = { ...this.state, [name]: value };
    }
    const texts = Object.entries(objectOf(variables)).filter(([, value]) => typeof value === 'string');
    this.variables = { ...this.variables, ...Object.fromEntries(texts) };
    if (JSON.stringify(this.variables).length > MAX_VARIABLES)
      throw this.api.failure('answer_too_large', { what: 'its dynamic variables' });
    return hasEnded === true;
  }

  private report(message: Json, all: readonly Json[], record: RequestRecord): void {
    const { role, arguments: args } = message;
    const content = contentOf(message['content']);
    if ((role === 'agent' || role === 'assistant') && content !== '') {
      this.spoke(content, record);
      this.emit({ type: 'speech_end', at: this.now });
    }
    if (role !== 'tool_call_invocation') return;
    const id = message['tool_call_id'];
    const answer = all.find(({ role, tool_call_id }) => role === 'tool_call_result' && tool_call_id === id);
    const result = answer?.['content'];
    const called = { name: textOf(message['name']) ?? '', json: argumentsJson(args) };
    this.calledTool({ ...called, ...(typeof result === 'string' && { result }) });
    // The platform has run the tool for real, since none of its mocks fits.
    const { failure: missing } = this.answers(called.name, parseArguments(called.json));
    if (missing) throw new CallFailure(missing);
  }
}
