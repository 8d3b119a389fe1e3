import type { Message } from './conversation.js';

/** The fields of a chat-completion request that the agent uses. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly hostedTools: ReadonlySet<string>;
  readonly isStreamed: boolean;
  readonly includesUsage: boolean;
}

/** Rejects a request, with the fields of an OpenAI API error. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    readonly status: number,
    message: string,
    readonly param: string | null = null,
    readonly code: string | null = null,
  ) {
    super(message);
  }

  get body() {
    const type = this.status >= 500 ? 'server_error' : 'invalid_request_error';
    return { error: { message: this.message, type, param: this.param, code: this.code } };
  }
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

/** The JSON object that a body has. @throws RequestError */
export function readObject(body: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new RequestError(400, 'The body must be valid JSON', null, 'invalid_json');
  }
  return objectOf(value, null);
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

/** @param param its path, null for the body @throws RequestError */
export function objectOf(value: unknown, param: string | null): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid(param, 'must be an object');
}

const invalid = (param: string | null, what: string) => new RequestError(400, `${param ?? 'The body'} ${what}`, param);
