import { objectOf, readObject, RequestError } from '../http.js';
import type { Message } from './conversation.js';

/** The fields of a chat-completion request that the agent uses. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly hostedTools: ReadonlySet<string>;
  readonly isStreamed: boolean;
  readonly includesUsage: boolean;
}

/** Limits the work per answer, which processes the whole history. */
const MAX_MESSAGES = 1_000;
const MAX_TOOLS = 128;
const ROLES: ReadonlySet<unknown> = new Set<Message['role']>(['system', 'developer', 'user', 'assistant', 'tool']);

/** @throws RequestError */
export function readCompletionRequest(body: string): CompletionRequest {
  const request = readObject(body);
  const { model = '', messages, tools = [], stream = false, stream_options: streamOptions } = request;
  if (typeof model !== 'string') throw invalid('model', 'must be a string');
  if (!Array.isArray(messages)) throw invalid('messages', 'must be a list');
  if (messages.length > MAX_MESSAGES) throw invalid('messages', `must have at most ${MAX_MESSAGES} entries`);
  if (stream !== null && typeof stream !== 'boolean') throw invalid('stream', 'must be true or false');
  if (tools !== null && (!Array.isArray(tools) || tools.length > MAX_TOOLS)) {
    throw invalid('tools', `must be a list of at most ${MAX_TOOLS} entries`);
  }
  const usage = streamOptions == null ? undefined : objectOf(streamOptions, 'stream_options')['include_usage'];
  return {
    model,
    messages: messages.map((message: unknown, index) => readMessage(message, `messages[${index}]`)),
    hostedTools: new Set((tools ?? []).map((tool: unknown, index) => readTool(tool, `tools[${index}]`))),
    isStreamed: stream === true,
    includesUsage: usage === true,
  };
}

function readMessage(value: unknown, param: string): Message {
  const { role, content, tool_call_id: id } = objectOf(value, param);
  if (!ROLES.has(role)) throw invalid(`${param}.role`, `must be one of ${[...ROLES].join(', ')}`);
  const message = { role: role as Message['role'], content: readContent(content, `${param}.content`) };
  return typeof id === 'string' ? { ...message, toolCallId: id } : message;
}

function readContent(content: unknown, param: string): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw invalid(param, 'must be a string or a list of parts');
  return content
    .map((part: unknown, index) => {
      const { text } = objectOf(part, `${param}[${index}]`);
      if (typeof text !== 'string') throw invalid(`${param}[${index}].text`, 'must be a string');
      return text;
    })
    .join(' ');
}

function readTool(value: unknown, param: string): string {
  const { name } = objectOf(objectOf(value, param)['function'], `${param}.function`);
  if (typeof name !== 'string') throw invalid(`${param}.function.name`, 'must be a string');
  return name;
}

const invalid = (param: string, what: string) => new RequestError(400, `${param} ${what}`, param);
