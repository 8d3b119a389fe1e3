import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { AgentFailure, createReferenceAgent, type ReferenceAgentOptions } from '../agent/agent.js';
import type { Message } from '../agent/conversation.js';
import { type FaultName, isFault, isHealthy } from '../agent/faults.js';
import { objectOf, readObject, RequestError } from '../agent/completion-request.js';
import { answer, decoded, readBody } from '../agent/http.js';
import { noSuchFault } from '../agent/voice/platform-faults.js';
import { refuse } from '../twilio/telephone.js';

export interface RetellServiceOptions extends ReferenceAgentOptions {
  /** Other keys are refused. */
  readonly apiKey?: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

const COMPLETION = /^\/agent-playground-completion\/([^/]{1,200})$/;
const MAX_ROUNDS = 8;

/** The agent as one of Retell, in text: each request has the whole conversation, and nothing of it is kept. */
export class RetellService {
  constructor(private readonly options: RetellServiceOptions) {}

  /** Nothing is prepared: there is no voice. */
  async prepare(): Promise<void> {}

  upgrade(_request: IncomingMessage, socket: Duplex): Promise<void> {
    return Promise.resolve(refuse(socket, '404 Not Found'));
  }

  close(): void {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const path = (request.url ?? '').split('?')[0]!;
    const [, agent] = COMPLETION.exec(path) ?? [];
    const isConcurrency = path === '/get-concurrency' && request.method === 'GET';
    if (!isConcurrency && (agent === undefined || request.method !== 'POST')) return false;
    const { apiKey } = this.options;
    if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
      answer(response, 401, error('Invalid API Key'));
    } else if (agent === undefined) answer(response, 200, { current_concurrency: 0, concurrency_limit: 20 });
    else await this.complete(decoded(agent), request, response);
    return true;
  }

  private async complete(agent: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.faultOf(agent);
    if (fault === null) return answer(response, 422, error(`Agent ${agent} not found. ${noSuchFault('retell')}`));
    const body = readObject(await readBody(request));
    const [messages, mocks] = [listOf(body, 'messages'), listOf({ tool_mocks: [], ...body }, 'tool_mocks')];
    try {
      const { fault: _, ...options } = this.options;
      answer(response, 200, await respond(messages, mocks, { ...options, fault }));
    } catch (failure) {
      if (!(failure instanceof AgentFailure)) throw failure;
      if (failure.status !== undefined) return answer(response, failure.status, error(failure.message));
      // The planted fault cuts the answer.
      response.writeHead(200, { 'content-length': '1000' }).write('{"messages":[', () => response.destroy());
    }
  }

  /** @returns null if there is no such agent. The testing service sends the name of its assistant: the fault of the options. */
  private faultOf(agent: string): FaultName | undefined | null {
    if (!agent.startsWith('booking:')) return this.options.fault;
    const fault = agent.slice('booking:'.length);
    if (isHealthy(fault)) return undefined;
    return isFault(fault) ? fault : null;
  }
}

/** The new messages. A tool with a mock has its result, as with the platform; the agent runs the others itself. */
async function respond(
  messages: readonly Json[],
  mocks: readonly Json[],
  options: Parameters<typeof createReferenceAgent>[0],
) {
  const agent = createReferenceAgent(options);
  const history = messages.flatMap(messageOf);
  const hostedTools = new Set(mocks.flatMap(({ tool_name: name }) => (typeof name === 'string' ? name : [])));
  const added: object[] = [];
  let hasEnded = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let isWaiting = false;
    let text = '';
    for await (const part of agent.respond(history, { hostedTools })) {
      if (part.type === 'text') text += part.text;
      else if (part.type === 'end') isWaiting = part.finishReason === 'tool_calls';
      else {
        if (part.name === 'end_call') hasEnded = true;
        const { id, name, arguments: json } = part;
        added.push({ role: 'tool_call_invocation', tool_call_id: id, name, arguments: json });
        if (!hostedTools.has(name)) continue;
        const content = mockFor(mocks, name, JSON.parse(json) as Json);
        added.push({ role: 'tool_call_result', tool_call_id: id, content, successful: true });
        history.push({ role: 'tool', content, toolCallId: id });
      }
    }
    if (text !== '') added.push({ role: 'agent', content: text });
    if (!isWaiting) break;
  }
  return { messages: added, call_ended: hasEnded };
}

function messageOf({ role, content, tool_call_id: id }: Json): Message[] {
  const text = typeof content === 'string' ? content : '';
  if (role === 'user') return [{ role: 'user', content: text }];
  if (role === 'agent') return [{ role: 'assistant', content: text }];
  return role === 'tool_call_result'
    ? [{ role: 'tool', content: text, toolCallId: typeof id === 'string' ? id : '' }]
    : [];
}

/** Output of the first mock that fits; a tool whose mocks do not fit is answered as one without a mock. */
function mockFor(mocks: readonly Json[], name: string, args: Json): string {
  const found = mocks.find(({ tool_name: tool, input_match_rule: rule }) => {
    const wanted = (rule as { args?: Json } | undefined)?.args ?? {};
    return (
      tool === name &&
      Object.entries(wanted).every(([key, value]) => JSON.stringify(args[key]) === JSON.stringify(value))
    );
  });
  const output = found?.['output'];
  return typeof output === 'string' ? output : '{"status":"ok"}';
}

/** @throws RequestError unless the field is a list of objects */
function listOf(body: Json, field: string): Json[] {
  const list = body[field];
  if (!Array.isArray(list)) throw new RequestError(400, `${field} must be a list`, field);
  return list.map((entry, index) => objectOf(entry, `${field}[${index}]`));
}

const error = (message: string) => ({ status: 'error', message });
